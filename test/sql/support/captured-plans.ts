// What a call really did inside its functions: in: a client and a call; out: every scan of a table, in every nested
// statement, with the rows it read, and the pages that the whole call touched. By auto_explain, whose plans come as notices.
// Used by the plan tests. It never judges.
import type pg from 'pg';

export interface Scan {
  readonly node: string;
  readonly table: string;
  readonly index: string | undefined;
  /** What the index is searched by; without it the scan reads the index from end to end. */
  readonly searchedBy: string | undefined;
  /** Rows returned and rows thrown away, over all loops. */
  readonly rowsRead: number;
  readonly pages: number;
  readonly statement: string;
}

export interface Captured {
  readonly scans: Scan[];
  readonly pages: number;
}

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Rows Removed by Join Filter'?: number;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

const settings = [
  "load 'auto_explain'",
  'set auto_explain.log_nested_statements = on',
  'set auto_explain.log_analyze = on',
  'set auto_explain.log_buffers = on',
  'set auto_explain.log_timing = off',
  'set auto_explain.log_format = json',
  'set auto_explain.log_level = notice',
];

export async function capture(client: pg.Client, call: () => Promise<unknown>): Promise<Captured> {
  const plans: { 'Query Text': string; Plan: PlanNode }[] = [];
  const collect = ({ message }: { message?: string | undefined }) => {
    if (message?.includes('plan:')) plans.push(JSON.parse(message.slice(message.indexOf('{'))));
  };
  await client.query(settings.join('; '));
  client.on('notice', collect);
  await client.query('set auto_explain.log_min_duration = 0');
  await call();
  await client.query('set auto_explain.log_min_duration = -1');
  client.off('notice', collect);

  const whole = plans.find((plan) => plan['Query Text'].includes('from process_work_batch('));
  if (whole === undefined) throw new Error(`No plan of the call among ${plans.length} that were captured.`);
  return {
    scans: plans.flatMap((plan) => scansOf(plan.Plan, plan['Query Text'])),
    pages: pagesOf(whole.Plan),
  };
}

function scansOf(node: PlanNode, statement: string): Scan[] {
  const below = (node.Plans ?? []).flatMap((plan) => scansOf(plan, statement));
  const table = node['Relation Name'];
  if (table === undefined || node['Node Type'] === 'ModifyTable') return below;
  const rows =
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0);
  const scan = {
    node: node['Node Type'],
    table,
    index: node['Index Name'],
    searchedBy: node['Index Cond'],
    rowsRead: Math.round(rows * (node['Actual Loops'] ?? 1)),
    pages: pagesOf(node),
    statement: statement.replace(/\s+/g, ' ').slice(0, 120),
  };
  return [scan, ...below];
}

function pagesOf(node: PlanNode): number {
  return (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0);
}
