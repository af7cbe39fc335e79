// pg-boss 10 with what it offers for bulk work: insert, fetch and complete in batches, over one connection,
// no ordering. To its advantage, its maintenance is off while it is measured, and its table, in which
// completed jobs stay, is vacuumed and analyzed between slices (otherwise it loses up to half its speed).

import PgBoss from 'pg-boss';
import { messageSource } from '../messages.js';
import { type OpenContender, repeatFor } from './contender.js';

const queue = 'orders';

export const openPgBoss: OpenContender = async (server, { batchSize, streams }) => {
  const database = await server.createDatabase();
  const boss = new PgBoss({
    connectionString: database.connectionString,
    max: 1,
    supervise: false,
    schedule: false,
  });
  boss.on('error', () => {}); // dropping the database at the end ends its connections
  await boss.start();
  await boss.createQueue(queue);
  const keeper = await database.connect();
  const nextBatch = messageSource(streams);

  return {
    name: 'pg-boss 10',
    slice: async (milliseconds) => {
      const slice = await repeatFor(milliseconds, async () => {
        const jobs = nextBatch(batchSize).map(({ message_id, event_data, metadata }) => ({
          id: message_id,
          name: queue,
          data: { event_data, metadata },
        }));
        await boss.insert(jobs);
        const fetched = await boss.fetch(queue, { batchSize });
        const ids = fetched.map((job) => job.id);
        await boss.complete(queue, ids);
        return ids.length;
      });
      await keeper.query('vacuum analyze pgboss.job');
      return slice;
    },
    close: async () => {
      await keeper.end();
      await boss.stop({ graceful: false, wait: true });
      await database.drop();
    },
  };
};
