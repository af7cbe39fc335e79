import { rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import { afterAll } from 'vitest';
import { describeTransactions } from './conformance.js';
import { generatedFolder, generatePrismaClient } from './prisma-client.js';
import type { UsersOwn } from './subject.js';

const order = 'model Order {\n  id String @id @db.Uuid\n  note String\n  @@map("orders")\n}';

/** What this test uses of the generated client: its own types exist only while the test runs. */
interface PrismaTransaction {
  readonly order: { create(args: { data: { id: string; note: string } }): Promise<unknown> };
  $transaction<T>(work: (tx: PrismaTransaction) => Promise<T>, options?: object): Promise<T>;
}
interface PrismaClient extends PrismaTransaction {
  $extends(extension: object): PrismaClient;
  $disconnect(): Promise<void>;
}

const folder = generatedFolder('prisma-test');
afterAll(() => rm(folder, { recursive: true, force: true }));

async function generateClient(): Promise<new (options: object) => PrismaClient> {
  await generatePrismaClient(folder, order);
  const generated = await import(pathToFileURL(`${folder}/generated/prisma/client.ts`).href);
  return generated.PrismaClient;
}

const ownOf = (tx: PrismaTransaction): UsersOwn => ({
  insertOrder: (id) => tx.order.create({ data: { id, note: 'by Prisma' } }),
  nested: (work) => tx.$transaction((inner) => work(inner)),
});

describeTransactions({
  name: 'Prisma',
  async connect(connectionString) {
    const Client = await generateClient();
    const prisma = new Client({ adapter: new PrismaPg({ connectionString, max: 5 }) });
    return {
      transaction: (work, { serializable } = {}) =>
        prisma.$transaction(
          (tx) => work(tx, ownOf(tx)),
          serializable ? { isolationLevel: 'Serializable' } : {},
        ),
      notTransactions: { prisma, 'an extended client': prisma.$extends({}) },
      close: () => prisma.$disconnect(),
    };
  },
});
