// The log of an instance, with who writes it: the ids of the instance, and of the trace and span that are active.
// In: the logger of the user. Out: a logger. The one for the console stays as it is: its lines are for people.
import { consoleLogger, type Logger, readsDebug } from '../logger.js';

type Ids = () => object;

export function withIds(logger: Logger, instanceId: string, ids: Ids): Logger {
  if (logger === consoleLogger) return logger;
  const all = (facts: object) => ({ instanceId, ...ids(), ...facts });
  const traced = {
    isLevelEnabled: (level: string) => level !== 'debug' || readsDebug(logger),
    debug: (facts: object, message: string) => logger.debug(all(facts), message),
    info: (facts: object, message: string) => logger.info(all(facts), message),
    warn: (facts: object, message: string) => logger.warn(all(facts), message),
    error: (facts: object, message: string) => logger.error(all(facts), message),
  };
  return traced;
}
