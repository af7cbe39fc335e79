// Tools that make a database equal to a model of it, with the options that the guide names: they leave our schema alone, so a
// message that waits is still there.
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { EntitySchema as MikroEntity } from '@mikro-orm/core';
import { MikroORM } from '@mikro-orm/postgresql';
import { DataTypes, Sequelize } from 'sequelize';
import { DataSource, EntitySchema } from 'typeorm';
import { expect, it } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import { OrderPlaced, service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { generatedFolder } from './prisma-client.js';
import { openSchemaEngine } from './prisma-schema-engine.js';

const drizzleKit = fileURLToPath(new URL('../../node_modules/drizzle-kit/bin.cjs', import.meta.url));
let folders = 0;

/** Over a schema file with the table `orders`, in a folder from which packages are found. */
async function drizzlePush({ connectionString, pool }: TestDatabase): Promise<void> {
  // Where `orders` is missing it asks which table was renamed. That `stray` goes shows that it drops what it does not know.
  await pool.query('create table orders (id text primary key); create table stray (id text)');
  const folder = generatedFolder(`drizzle-${++folders}`);
  await mkdir(folder);
  try {
    await writeFile(
      join(folder, 'schema.ts'),
      `import { pgTable, text } from 'drizzle-orm/pg-core';
       export const orders = pgTable('orders', { id: text().primaryKey() });`,
    );
    const config = { dialect: 'postgresql', schema: './schema.ts', dbCredentials: { url: connectionString } };
    await writeFile(join(folder, 'drizzle.config.ts'), `export default ${JSON.stringify(config)};`);
    await promisify(execFile)(process.execPath, [drizzleKit, 'push', '--force'], { cwd: folder });
    await expect(pool.query('select from stray')).rejects.toMatchObject({ code: '42P01' });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function typeOrmSynchronize({ connectionString }: TestDatabase): Promise<void> {
  const Order = new EntitySchema<{ id: string }>({
    name: 'Order',
    tableName: 'orders',
    columns: { id: { type: String, primary: true } },
  });
  const source = new DataSource({ type: 'postgres', url: connectionString, entities: [Order] });
  await source.initialize();
  await source.synchronize();
  await source.destroy();
}

async function mikroOrmUpdate({ connectionString }: TestDatabase): Promise<void> {
  const Order = new MikroEntity<{ id: string }>({
    name: 'Order',
    tableName: 'orders',
    properties: { id: { type: 'string', primary: true } },
  });
  const orm = await MikroORM.init({
    clientUrl: connectionString,
    entities: [Order],
    schemaGenerator: { ignoreSchema: ['whizbang'] },
  });
  await orm.schema.updateSchema();
  await orm.close();
}

async function sequelizeAlter({ connectionString }: TestDatabase): Promise<void> {
  const sequelize = new Sequelize(connectionString, { logging: false });
  sequelize.define('Order', { id: { type: DataTypes.STRING, primaryKey: true } }, { tableName: 'orders' });
  await sequelize.sync({ alter: true });
  await sequelize.close();
}

async function prismaPush({ connectionString, pool }: TestDatabase): Promise<void> {
  await pool.query('create table public.stray (id text)');
  const datasource = 'datasource db {\n  provider = "postgresql"\n}';
  const model = 'model Order {\n  id String @id\n  @@map("orders")\n}';
  const engine = await openSchemaEngine(connectionString, `${datasource}\n${model}\n`);
  const script = (await engine.diff()) ?? '';
  expect(script.split('\n').filter((line) => /^(create|drop|alter)/i.test(line))).toEqual([
    'DROP TABLE "stray";',
    'CREATE TABLE "orders" (',
  ]);
  await engine.push();
  engine.close();
  await expect(pool.query('select from public.stray')).rejects.toMatchObject({ code: '42P01' });
}

const tools = [
  ['migrate diff and db push of Prisma', prismaPush],
  ['drizzle-kit push --force', drizzlePush],
  ['synchronize of TypeORM', typeOrmSynchronize],
  ['updateSchema of MikroORM', mikroOrmUpdate],
  ['sync of Sequelize, with alter', sequelizeAlter],
] as const;

const waitingIn = async (db: TestDatabase, schema: string) =>
  (await db.pool.query(`select event_data ->> 'orderId' as order from ${schema}.wh_outbox`)).rows;

it.each(tools)('a message that waits survives %s', async (_, run) => {
  await using db = await createTestDatabase();
  await using shop = service(db);
  await shop.publish(OrderPlaced({ orderId: 'a' }));
  await run(db);
  expect(await waitingIn(db, 'whizbang')).toEqual([{ order: 'a' }]);
  expect((await db.pool.query('select from public.orders')).rowCount).toBe(0);
  expect(await migrate({ pool: db.pool })).toMatchObject({ alreadyCurrent: true });
});
