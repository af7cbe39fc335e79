import { describe, expect, it } from 'vitest';
import type { ConnectionPool } from '../../src/database/index.js';
import { TransactionWatch } from '../../src/work/index.js';

interface Said {
  readonly state: string | null;
  readonly waits_for: string | null;
}
const idle: Said = { state: 'idle in transaction', waits_for: 'Client' };
const working: Said = { state: 'active', waits_for: null };
const transmitting: Said = { state: 'active', waits_for: 'Client' };
const unseen: Said = { state: null, waits_for: null };
const gone = undefined;

/** PostgreSQL as the watch sees it: what it says of the session at each look, the last for ever. Tells of each look. */
function saying(...script: readonly (Said | undefined)[]) {
  let looks = 0;
  let onLook = () => {};
  const pool: ConnectionPool = {
    connect: async () => ({
      query: async () => {
        const said = script[Math.min(looks++, script.length - 1)];
        onLook();
        return { rows: said === undefined ? [] : [{ pid: '7', ...said }] };
      },
      release: () => {},
    }),
  };
  const looked = (count: number) =>
    new Promise<void>((resolve) => {
      onLook = () => looks >= count && resolve();
      onLook();
    });
  return { pool, looked };
}

/** A transaction whose connection answers its first statement and then nothing more. */
const silentTx = {
  query: (text: string) =>
    text.includes('pg_backend_pid')
      ? Promise.resolve({ rows: [{ pid: '7' }] })
      : new Promise<never>(() => {}),
};

/** The work ends at the given look: if it is not given up before. */
async function watch(lookCount: number, ...script: readonly (Said | undefined)[]): Promise<string> {
  const { pool, looked } = saying(...script);
  const transaction = <T>(work: (tx: typeof silentTx) => Promise<T>) => work(silentTx);
  const { run } = new TransactionWatch<typeof silentTx>({ transaction, pools: [pool], leaseSeconds: 0.2 });
  return run(async () => {
    await looked(lookCount);
    return 'went on';
  });
}

describe.concurrent('The watch over a transaction', () => {
  it('the watch gives up a silent transaction that PostgreSQL waits for, or has ended', async () => {
    const lost = { code: 'CONNECTION_LOST' };
    await expect(watch(4, idle)).rejects.toMatchObject(lost);
    await expect(watch(4, gone)).rejects.toMatchObject(lost);
  });

  it('the watch leaves a transaction alone that has begun to work after the first look', async () => {
    expect(await watch(4, idle, working)).toBe('went on');
    expect(await watch(4, unseen, working)).toBe('went on');
  });

  it('the watch leaves a cursor or a COPY of a library alone', async () => {
    expect(await watch(4, transmitting)).toBe('went on');
  });

  it('the watch does not judge a session that it may not see, until PostgreSQL has ended it', async () => {
    expect(await watch(4, unseen)).toBe('went on');
    await expect(watch(9, unseen, unseen, gone)).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  });

  it('the watch does not judge a transaction by what was asked in the one before it', async () => {
    const { pool, looked } = saying(idle);
    let ask = () => {};
    const asked = new Promise<void>((resolve) => (ask = resolve));
    const first = {
      query: (text: string) => {
        if (!text.includes('pg_backend_pid')) ask();
        return silentTx.query(text);
      },
    };
    const answering = { query: async () => ({ rows: [{ pid: '7' }] }) };
    type Tx = { query(text: string): Promise<{ rows: unknown[] }> };
    const transaction = async <T>(work: (tx: Tx) => Promise<T>) => {
      await work(first).catch(() => {});
      return work(answering);
    };
    const { run } = new TransactionWatch<Tx>({ transaction, pools: [pool], leaseSeconds: 0.2 });
    const result = run(async (tx) => {
      if (tx === first) {
        await asked;
        throw Object.assign(new Error('could not serialize access'), { code: '40001', severity: 'ERROR' });
      }
      await looked(6);
      return 'went on';
    });
    expect(await result).toBe('went on');
  });
});
