// Schedules and timers: what is sent by itself, and what waits for its time.
import { MessageLink, StreamLink } from '../parts/links.js';
import { Answered, Empty } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { useAnswer } from '../state/answer.js';
import { now, schema } from '../state/live.js';
import { relative } from '../text/format.js';

interface Schedule {
  readonly name: string;
  readonly cron: string;
  readonly time_zone: string;
  readonly catch_up: string;
  readonly next_at: number | null;
  readonly last_at: number | null;
}

interface Timer {
  readonly message_id: string;
  readonly event_type: string;
  readonly stream_id: string | null;
  readonly destination: string;
  readonly due_at: number;
  readonly created_at: number;
}

const scheduleColumns: readonly Column<Schedule>[] = [
  { name: 'Schedule', cell: ({ name }) => name },
  { name: 'Pattern', cell: ({ cron }) => <code>{cron}</code> },
  { name: 'Time zone', cell: ({ time_zone: zone }) => zone },
  { name: 'Next', cell: ({ next_at: next }) => (next === null ? 'never again' : relative(next, now.value)) },
  { name: 'Last', cell: ({ last_at: last }) => relative(last, now.value) },
  { name: 'What was missed', cell: ({ catch_up: catchUp }) => catchUp },
];

const timerColumns: readonly Column<Timer>[] = [
  { name: 'Message', cell: ({ message_id: id }) => <MessageLink id={id} /> },
  { name: 'Type', cell: ({ event_type: type }) => type },
  { name: 'Stream', cell: ({ stream_id: id }) => id && <StreamLink id={id} /> },
  { name: 'For', cell: ({ destination }) => destination },
  { name: 'Due', cell: ({ due_at: due }) => relative(due, now.value) },
  { name: 'Sent', cell: ({ created_at: sent }) => relative(sent, now.value) },
];

export function ClockworkScreen() {
  const answer = useAnswer<{ schedules: readonly Schedule[]; timers: readonly Timer[] }>('clockwork', {
    schema: schema.value,
  });
  return (
    <Answered answer={answer}>
      {({ schedules, timers }) => (
        <>
          <h2>Schedules</h2>
          {schedules.length === 0 ? (
            <Empty>No instance has a schedule.</Empty>
          ) : (
            <Table label="Schedules" columns={scheduleColumns} rows={schedules} keyOf={({ name }) => name} />
          )}
          <h2>Timers{timers.length === 100 && ', the first 100'}</h2>
          {timers.length === 0 ? (
            <Empty>No message waits for its time.</Empty>
          ) : (
            <Table label="Timers" columns={timerColumns} rows={timers} keyOf={({ message_id: id }) => id} />
          )}
        </>
      )}
    </Answered>
  );
}
