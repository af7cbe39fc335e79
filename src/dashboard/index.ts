// The page for operators: `whizbang/dashboard`. In: a pool or a URL, and who may look. Out: an object with `fetch(request)`.
export { type Dashboard, dashboard } from './dashboard.js';
export type { DashboardOptions, MaskedMessage } from './dashboard-options.js';
