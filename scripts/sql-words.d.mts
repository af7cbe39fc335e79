export declare const constants: Readonly<Record<string, number | string>>;
export declare const lanes: readonly Readonly<Record<'lane' | 'target' | 'stored_at', string>>[];
export declare function withWords(text: string, words: Readonly<Record<string, string>>): string;
