// What the doctor says: one thing that is wrong or worth a look, and what to do about it.

export interface Finding {
  /** Stable: listed in docs/operate/doctor.md, which a test holds equal to the checks. */
  readonly code: string;
  /** A fault stops work or may lose it; a warning is worth a look. */
  readonly level: 'fault' | 'warning';
  readonly text: string;
  /** A statement, a command, or what to do. */
  readonly remedy: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

export const fault = (code: string, text: string, remedy: string, facts?: Finding['facts']): Finding => ({
  code,
  level: 'fault',
  text,
  remedy,
  ...(facts === undefined ? {} : { facts }),
});

export const warning = (code: string, text: string, remedy: string, facts?: Finding['facts']): Finding => ({
  ...fault(code, text, remedy, facts),
  level: 'warning',
});
