// Looks at everything that is known to go wrong, and says what to do about it.
// In: a session that is not inside a transaction, the schema, and the broker if there is one. Out: findings, faults first.
// Called by `whizbang doctor`. It changes nothing, and takes no lock that a claim could wait or skip for.
import { type Queryable, quoteSchema } from '../database/index.js';
import { type BrokerToExamine, checkBroker } from './checks/broker.js';
import { checkHistory, checkRights } from './checks/rights.js';
import { checkSchema } from './checks/schema.js';
import { checkServer, checkTransactions } from './checks/server.js';
import {
  checkBacklog,
  checkClockSteps,
  checkInstances,
  checkOrder,
  checkPauses,
  checkTables,
} from './checks/work.js';
import type { Finding } from './finding.js';

export type { Finding } from './finding.js';

/** What is looked at where whizbang is installed. */
const checks = [
  checkTransactions,
  checkInstances,
  checkBacklog,
  checkPauses,
  checkOrder,
  checkTables,
  checkClockSteps,
  checkRights,
  checkHistory,
];

export async function examine(db: Queryable, schema: string, broker?: BrokerToExamine): Promise<Finding[]> {
  const quoted = quoteSchema(schema);
  const findings = await checkServer(db);
  const { findings: ofSchema, isInstalled } = await checkSchema(db, schema);
  findings.push(...ofSchema);
  if (isInstalled) for (const check of checks) findings.push(...(await check(db, quoted)));
  if (broker !== undefined) findings.push(...(await checkBroker(db, schema, broker, isInstalled)));
  return findings.sort((one, other) => Number(other.level === 'fault') - Number(one.level === 'fault'));
}
