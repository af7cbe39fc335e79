// The door `whizbang/nestjs`: a service in a Nest application. Needs the packages @nestjs/common and @nestjs/core.
// Exports only, in the group of docs/reference/api.md, which a test holds equal to this file.
export {
  decoratorsFor,
  Handles,
  HandlesBatch,
  type HandlesBatchDecorator,
  type HandlesDecorator,
  type MethodDecoratorFor,
  OnGivenUp,
  type OnGivenUpDecorator,
  type ReceptorDecorators,
} from './decorators.js';
export {
  InjectWhizbang,
  WhizbangModule,
  type WhizbangModuleAsyncOptions,
  type WhizbangModuleOptions,
  whizbangToken,
} from './whizbang-module.js';
