// A test process that says where its kit is and then waits to be killed.
import { startTestKit } from '../../src/testing/index.js';

const [, , connectionString = ''] = process.argv;
const kit = await startTestKit({ service: 'killed', database: { connectionString } });
process.send?.(kit.connectionString);
setInterval(() => {}, 60_000);
