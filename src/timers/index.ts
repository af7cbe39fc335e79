// Messages that wait for their time: who sends them when it has come, who lists them, who takes one back.
// In: the clock of the database, notifications of new timers. Out: messages in the outbox or the inbox.
// Called by the composition root. It decides when to ask the database, which decides what is due.

export { Alarm } from './alarm.js';
export { cancel } from './cancel.js';
export { Timekeeper } from './timekeeper.js';
export { type Timer, type TimerFilter, Timers } from './timers.js';
