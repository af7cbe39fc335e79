/** Where the process is to die or to be stopped: at the n-th time that it passes this step. */
export interface Accident {
  readonly step: string;
  /** Of which messages the steps count. Default: `PlaceOrder`. */
  readonly type?: string;
  readonly nth: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

/**
 * To be called at every step. The signal is the process's own, so it strikes exactly there: the kernel acts on it before
 * the next instruction of the program.
 */
export function accidentAt(accident: Accident | undefined): (step: string) => void {
  let passed = 0;
  return (step) => {
    if (accident === undefined || step !== accident.step || ++passed !== accident.nth) return;
    process.kill(process.pid, accident.signal);
  };
}
