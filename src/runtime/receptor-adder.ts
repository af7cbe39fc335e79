import { type Around, type Receptor, withAround } from '../receptors/index.js';
import type { ReceptorRegistry, RetryPolicies } from '../work/index.js';
import { refuseReceptors } from './check-options.js';

/** Returns the one way in which receptors become those of an instance, at its creation and later. */
export function receptorAdder<Tx>(
  registry: ReceptorRegistry<Tx>,
  policies: RetryPolicies<Tx>,
  around: Around<Tx> | undefined,
): (receptors: readonly Receptor<Tx>[]) => void {
  return (receptors) => {
    refuseReceptors(receptors);
    for (const receptor of receptors) {
      const whole = withAround(receptor, around);
      policies.add(whole); // a policy that does not fit is refused before anything is registered
      registry.add(whole);
    }
  };
}
