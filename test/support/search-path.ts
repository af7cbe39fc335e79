/**
 * Lets the SQL of tests name our tables without their schema, while tables of tests are made in `public`.
 * Services must not need it: the testing kit and the programs of the pages run without.
 */
export const searchPath = '"$user", public, whizbang';
