// Run as a process of its own by the journeys: one instance of one of both services, over the transport that it is told.
import pg from 'pg';
import { createWhizbang } from '../../src/index.js';
import { consoleLogger, silentLogger } from '../../src/logger.js';
import { createShop } from '../crashes/support/shop.js';
import type { JourneyPlan } from './plan.js';
import { leases } from './size.js';
import { transportOf } from './transport-of.js';

const { connectionString, name, role, way } = JSON.parse(process.argv[2] as string) as JourneyPlan;
const pool = new pg.Pool({ connectionString, max: 12 });
pool.on('error', () => {});
// WHIZBANG_JOURNEY_LOG=1 shows what the instances warn of.
const logger = process.env.WHIZBANG_JOURNEY_LOG ? consoleLogger : silentLogger;
const options = { pool, logger, ...leases, transport: await transportOf(way) };
const instance =
  role === 'till' ? createWhizbang({ ...options, service: 'till' }) : createShop(options, { name });

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')); // the test is gone
await instance.start();
process.send?.('started');
