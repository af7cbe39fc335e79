// The user's own transaction, of any supported library, as the one thing this package needs: `query(text,
// values)`.
// In: what the user passed as `tx`. Out: a Queryable whose statements are part of that transaction, or a refusal.
// Called by the dispatcher and the workers. It imports none of the libraries: each family is known by its shape.
// It never begins, commits or rolls back, and never lets a pool or a database pass for a transaction: a message sent
// beside the user's transaction is what this package exists to prevent.

export { asQueryable } from './as-queryable.js';
export { transactionStatusOf } from './pg.js';
