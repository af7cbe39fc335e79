// Looks for what is known to go wrong in a service, its schema and its server.
// In: a session of the database and a schema. Out: findings, each with its remedy.
// Called by the command line. It changes nothing and reads no payload.

export { examine, type Finding } from './examine.js';
export { reportOf } from './report.js';
