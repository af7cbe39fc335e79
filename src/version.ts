/** The version of this package. A constant, so that it survives bundling; a test compares it with package.json. */
export const packageVersion = '0.1.0';
