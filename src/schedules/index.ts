// Messages that are sent at the times of a cron pattern, once over all instances of a service.
// In: schedules, and the clock of the database. Out: messages in the outbox or the inbox.
// Called by the composition root. What a time is, and which were missed, is decided here; who sends for it, by the database.

export { type CatchUp, type Schedule, type ScheduleOptions, schedule } from './schedule.js';
export { ScheduleKeeper } from './schedule-keeper.js';
export { type ScheduleInfo, Schedules } from './schedules.js';
