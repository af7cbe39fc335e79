export interface SqlText {
  readonly file: string;
  readonly text: string;
}
export declare function readFragments(): Readonly<Record<string, string>>;
export declare function faultsOfFragments(
  functions: readonly SqlText[],
  fragments?: readonly { readonly name: string; readonly text: string }[],
): string[];
