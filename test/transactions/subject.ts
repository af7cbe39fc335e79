import type { Queryable } from '../../src/database/index.js';

/** What the user's code does in its transaction, with the library's own means. */
export interface UsersOwn {
  readonly insertOrder: (id: string) => Promise<unknown>;
  /** A transaction within it, where the library has them. */
  readonly nested?: <T>(work: (tx: unknown) => Promise<T>) => Promise<T>;
}

export interface Connected {
  /** Commits when the work resolves, rolls back when it rejects. */
  transaction<T>(
    work: (tx: unknown, own: UsersOwn) => Promise<T>,
    options?: { readonly serializable?: boolean },
  ): Promise<T>;
  /** What a user could pass by mistake, by name. */
  readonly notTransactions: Readonly<Record<string, unknown>>;
  close(): Promise<unknown>;
}

export interface Subject {
  readonly name: string;
  /** False for a library without nested transactions. */
  readonly nested?: boolean;
  /** False where a transaction does not show that it is over. */
  readonly seesItsEnd?: boolean;
  connect(connectionString: string): Promise<Connected>;
  /** For a database that is not a server. It is migrated. */
  openDatabase?(): Promise<Queryable & AsyncDisposable>;
}
