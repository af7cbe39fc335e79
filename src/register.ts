/**
 * What a program declares of itself once, for all types of the package:
 * `declare module 'whizbang' { interface Register { scope: { tenant: string } } }`.
 */
// biome-ignore lint/suspicious/noEmptyInterface: programs add to it
export interface Register {}

/** The scope of messages: what the program has declared, or else unknown. */
export type Scope = ScopeOf<Register>;

/** The type of the scope that these declarations give. */
export type ScopeOf<Declarations> = Declarations extends { readonly scope: infer Declared }
  ? Declared | null
  : unknown;
