import pg from 'pg';

/** `pool.end()` resolves before the server has seen the goodbyes; dropping the database then cuts off the slow ones. */
export function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 5 });
  pool.on('error', () => {});
  return pool;
}
