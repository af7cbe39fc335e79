export interface SqlFunction {
  /** Relative to sql/functions. */
  readonly file: string;
  /** Empty: directly in sql/functions. */
  readonly folder: string;
  readonly name: string;
  readonly creates: string | undefined;
  readonly header: readonly string[];
  readonly text: string;
  /** Without the header, comments and empty lines. */
  readonly codeLines: number;
  readonly code: string;
}
export declare function readFunctions(): readonly SqlFunction[];
export declare function parseFunction(file: string, text: string): SqlFunction;
export declare function callsOf(fn: SqlFunction, names: ReadonlySet<string>): readonly string[];
export declare function readCallers(
  functions: readonly SqlFunction[],
): ReadonlyMap<string, readonly string[]>;
export declare function calledByLines(callers: readonly string[]): readonly string[];
