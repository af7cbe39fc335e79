// An instance as a module of a Nest application. In: the options of createWhizbang. Out: a provider that all others may
// inject, started when they are all there and stopped before what it uses ends. It adds nothing to what an instance does.
import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Module,
  type ModuleMetadata,
  Logger as NestLogger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModulesContainer } from '@nestjs/core';
import type { Queryable } from '../database/index.js';
import { type Logger, lineOf } from '../logger.js';
import type { TransactionNeeded, WhizbangOptions } from '../runtime/index.js';
import { createWhizbang, type Whizbang } from '../whizbang.js';
import { foundReceptors } from './found-receptors.js';

/** Options of `WhizbangModule`: those of `createWhizbang`, and when it starts and stops. */
export type WhizbangModuleOptions<Tx = Queryable> = WhizbangOptions<Tx> & {
  /** False: it only sends, until your code calls `start()`. Default: true, it starts when the application does. */
  readonly start?: boolean | undefined;
  /**
   * When it stops. At `onApplicationShutdown` requests that are under way can send until the HTTP server is closed; the
   * pool must not end earlier. Default: `onModuleDestroy`.
   */
  readonly stopAt?: 'onModuleDestroy' | 'onApplicationShutdown' | undefined;
};

/** Options of `WhizbangModule.forRootAsync`. */
export interface WhizbangModuleAsyncOptions<Tx = Queryable> extends Pick<ModuleMetadata, 'imports'> {
  /** What the factory gets, in this order. */
  readonly inject?: FactoryProvider['inject'];
  /** Returns the options. */
  readonly useFactory: (
    ...injected: never[]
  ) => WhizbangModuleOptions<Tx> | Promise<WhizbangModuleOptions<Tx>>;
}

/** The token of the instance: `app.get<Whizbang>(whizbangToken)`, or `inject: [whizbangToken]` of a factory. */
export const whizbangToken: unique symbol = Symbol.for('whizbang/nestjs instance');
const optionsToken = Symbol.for('whizbang/nestjs options');

/** Injects the instance: `constructor(@InjectWhizbang() private readonly shop: Whizbang) {}`. */
export function InjectWhizbang(): PropertyDecorator & ParameterDecorator {
  return Inject(whizbangToken);
}

/** An instance of a service as a global module of a Nest application. */
// biome-ignore lint/complexity/noStaticOnlyClass: Nest knows modules by their classes
export class WhizbangModule {
  /** The options are known when the module is declared. */
  static forRoot<Tx = Queryable>(options: WhizbangModuleOptions<Tx> & TransactionNeeded<Tx>): DynamicModule {
    return moduleWith({ provide: optionsToken, useFactory: () => options });
  }

  /** The options come from a factory, which may use other providers, such as a pool. */
  static forRootAsync<Tx = Queryable>(options: WhizbangModuleAsyncOptions<Tx>): DynamicModule {
    const { imports = [], inject = [], useFactory } = options;
    return moduleWith({ provide: optionsToken, useFactory, inject }, imports);
  }
}
Module({})(WhizbangModule);

function moduleWith(
  options: FactoryProvider,
  imports: NonNullable<ModuleMetadata['imports']> = [],
): DynamicModule {
  return {
    module: WhizbangModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [
      options,
      { provide: whizbangToken, useFactory: instanceOf, inject: [optionsToken] },
      {
        provide: InstanceLife,
        useFactory: (...parts: ConstructorParameters<typeof InstanceLife>) => new InstanceLife(...parts),
        inject: [whizbangToken, optionsToken, DiscoveryService, ModulesContainer],
      },
    ],
    exports: [whizbangToken],
  };
}

function instanceOf({ start: _, stopAt: __, ...options }: WhizbangModuleOptions<unknown>): Whizbang<unknown> {
  return createWhizbang({ logger: logOfNest(), ...options } as never) as unknown as Whizbang<unknown>;
}

/**
 * The hooks of Nest. Those of a global module run first at the start and last at the end: the receptors and the pool would
 * be gone while messages are still handled. A distance below that of the root turns this around.
 */
class InstanceLife implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  readonly #whizbang: Whizbang<unknown>;
  readonly #options: WhizbangModuleOptions<unknown>;
  readonly #discovery: DiscoveryService;

  constructor(
    whizbang: Whizbang<unknown>,
    options: WhizbangModuleOptions<unknown>,
    discovery: DiscoveryService,
    modules: ModulesContainer,
  ) {
    for (const module of modules.values()) if (module.metatype === WhizbangModule) module.distance = -1;
    this.#whizbang = whizbang;
    this.#options = options;
    this.#discovery = discovery;
  }

  /** Not earlier: until now, providers may have been half made, or not have run their own `onModuleInit`. */
  async onApplicationBootstrap(): Promise<void> {
    const providers = [...this.#discovery.getProviders(), ...this.#discovery.getControllers()];
    this.#whizbang.add(...foundReceptors(providers));
    if (this.#options.start !== false) await this.#whizbang.start();
  }

  async onModuleDestroy(): Promise<void> {
    if (this.#options.stopAt !== 'onApplicationShutdown') await this.#whizbang.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#whizbang.stop();
  }
}

function logOfNest(): Logger {
  const nest = new NestLogger('Whizbang');
  return {
    debug: (facts, message) => nest.debug(lineOf(facts, message)),
    info: (facts, message) => nest.log(lineOf(facts, message)),
    warn: (facts, message) => nest.warn(lineOf(facts, message)),
    error: (facts, message) => nest.error(lineOf(facts, message)),
  };
}
