export interface SqlFunction {
  /** The path relative to sql/functions. */
  readonly file: string;
  /** The folder; empty when the file is directly in sql/functions. */
  readonly folder: string;
  readonly name: string;
  readonly creates: string | undefined;
  readonly header: readonly string[];
  readonly text: string;
  /** The number of lines without the header, comments and empty lines. */
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
