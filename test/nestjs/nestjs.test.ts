import 'reflect-metadata';
import {
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  Scope,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { PayloadOf, ReceptorContext, Whizbang } from '../../src/index.js';
import {
  Handles,
  HandlesBatch,
  InjectWhizbang,
  OnGivenUp,
  WhizbangModule,
  type WhizbangModuleOptions,
  whizbangToken,
} from '../../src/nestjs/index.js';
import { OrderPlaced, PlaceOrder } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

type Order = PayloadOf<typeof PlaceOrder>;

function moduleOf(
  db: TestDatabase,
  providers: readonly Type[],
  options: Pick<WhizbangModuleOptions, 'start'> = {},
): Type {
  @Module({
    imports: [WhizbangModule.forRoot({ service: 'shop', connectionString: db.connectionString, ...options })],
    providers: [...providers],
  })
  class AppModule {}
  return AppModule;
}

const start = (module: Type) =>
  NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });

describe('Receptors of a Nest application', () => {
  it('a method handles messages with what was injected, and the instance is injected into the same provider', async () => {
    const told: string[] = [];
    @Injectable()
    class Mail {
      send(text: string) {
        told.push(text);
      }
    }
    @Injectable()
    class Shop {
      constructor(
        @Inject(Mail) private readonly mail: Mail,
        @InjectWhizbang() private readonly shop: Whizbang,
      ) {}

      @Handles(PlaceOrder)
      async place(order: Order, ctx: ReceptorContext) {
        await this.shop.publish(OrderPlaced(order), { tx: ctx.tx });
      }

      @Handles(OrderPlaced)
      placed({ orderId }: Order) {
        this.mail.send(`${orderId} by ${this.shop.service}`);
      }
    }
    await using db = await createTestDatabase();
    const app = await start(moduleOf(db, [Mail, Shop]));
    await app.get<Whizbang>(whizbangToken).send(PlaceOrder({ orderId: 'a' }));
    await eventually(() => expect(told).toEqual(['a by shop']));
    await app.close();
  });

  it('a method with OnGivenUp is called for the message that another method of its class could not handle', async () => {
    const told: string[] = [];
    @Injectable()
    class Shop {
      readonly name = 'this one';

      @Handles(PlaceOrder, { retry: { attempts: 1 } })
      place(): void {
        throw new Error('no');
      }

      @OnGivenUp(PlaceOrder)
      givenUp({ orderId }: Order, _: ReceptorContext, error: Error) {
        told.push(`${orderId} ${error.message}, ${this.name}`);
      }
    }
    await using db = await createTestDatabase();
    const app = await start(moduleOf(db, [Shop]));
    await app.get<Whizbang>(whizbangToken).send(PlaceOrder({ orderId: 'a' }));
    await eventually(() => expect(told).toEqual(['a no, this one']));
    await app.close();
  });

  it('a method with HandlesBatch gets many messages, also one that its class inherits', async () => {
    const told: string[] = [];
    abstract class Base {
      @HandlesBatch(PlaceOrder, { size: 10, waitMs: 500 })
      place(orders: readonly Order[]) {
        told.push(...orders.map(({ orderId }) => orderId));
      }
    }
    @Injectable()
    class Shop extends Base {}
    await using db = await createTestDatabase();
    const app = await start(moduleOf(db, [Shop]));
    await app.get<Whizbang>(whizbangToken).send(['a', 'b'].map((orderId) => PlaceOrder({ orderId })));
    await eventually(() => expect(told.sort()).toEqual(['a', 'b']));
    await app.close();
  });

  it('a provider with receptors that is made for each request is refused at the start', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Shop {
      @Handles(PlaceOrder)
      place() {}
    }
    await using db = await createTestDatabase();
    await expect(start(moduleOf(db, [Shop]))).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('Shop handles PlaceOrder and is made anew for each request'),
    });
  });

  it('a method with OnGivenUp for a message that its class does not handle is refused', async () => {
    @Injectable()
    class Shop {
      @OnGivenUp(PlaceOrder)
      givenUp() {}
    }
    await using db = await createTestDatabase();
    await expect(start(moduleOf(db, [Shop]))).rejects.toThrow(
      'Shop.givenUp: no method of the class has @Handles for PlaceOrder',
    );
  });

  it('an instance with start false only sends', async () => {
    @Injectable()
    class Shop {
      @Handles(PlaceOrder)
      place() {}
    }
    await using db = await createTestDatabase();
    const app = await start(moduleOf(db, [Shop], { start: false }));
    const shop = app.get<Whizbang>(whizbangToken);
    expect(shop.readiness.database).toBe(false);
    await shop.start();
    expect(shop.readiness.database).toBe(true);
    await app.close();
  });
});

describe('The hooks of a Nest application', () => {
  it.each(['onModuleDestroy', 'onApplicationShutdown'] as const)(
    'an instance starts after all modules, and stops before a pool that ends at %s',
    async (stopAt) => {
      const told: string[] = [];
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await using db = await createTestDatabase();

      @Module({
        providers: [
          {
            provide: pg.Pool,
            useFactory: () => new pg.Pool({ connectionString: db.connectionString, max: 8 }),
          },
        ],
        exports: [pg.Pool],
      })
      class DatabaseModule implements OnModuleDestroy, OnApplicationShutdown {
        constructor(@Inject(pg.Pool) private readonly pool: pg.Pool) {}

        async onModuleDestroy() {
          if (stopAt === 'onModuleDestroy') await this.#end();
        }

        async onApplicationShutdown() {
          if (stopAt === 'onApplicationShutdown') await this.#end();
        }

        async #end() {
          told.push('pool ends');
          await this.pool.end();
        }
      }
      @Injectable()
      class Shop implements OnApplicationBootstrap, OnModuleDestroy {
        constructor(@InjectWhizbang() private readonly shop: Whizbang) {}

        onApplicationBootstrap() {
          told.push(`started before: ${this.shop.readiness.database}`);
        }

        onModuleDestroy() {
          told.push('shop ends');
        }

        @Handles(PlaceOrder)
        async place(_: Order, ctx: ReceptorContext) {
          told.push('begun');
          await released;
          await ctx.tx.query('select 1');
          told.push('handled');
        }
      }
      @Module({
        imports: [
          WhizbangModule.forRootAsync({
            imports: [DatabaseModule],
            inject: [pg.Pool],
            useFactory: (pool: pg.Pool) => ({ service: 'shop', pool, stopAt }),
          }),
        ],
        providers: [Shop],
      })
      class AppModule {}

      const app = await start(AppModule);
      await app.get<Whizbang>(whizbangToken).send(PlaceOrder({ orderId: 'a' }));
      await eventually(() => expect(told).toContain('begun'));
      const closed = app.close();
      release();
      await closed;
      const shopEnds = stopAt === 'onModuleDestroy' ? ['handled', 'shop ends'] : ['shop ends', 'handled'];
      expect(told).toEqual(['started before: false', 'begun', ...shopEnds, 'pool ends']);
      const { rows } = await db.pool.query('select 1 from whizbang.wh_inbox');
      expect(rows).toEqual([]);
    },
  );
});
