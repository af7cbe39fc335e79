// Reads the titles of tests and says which cannot be read alone. In: the text of a file. Out: its titles, and what is wrong with one.
import ts from 'typescript';

interface Title {
  readonly line: number;
  readonly text: string;
}

/** What declares a test: `it`, `it.each(…)`, `trial` of the transports, and an `it` under a condition, as `itNested`. */
const declares = /^(?:it|test|trial|it[A-Z]\w*)$/;

export function titlesIn(text: string): Title[] {
  const file = ts.createSourceFile('some.ts', text, ts.ScriptTarget.Latest);
  const titles: Title[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.arguments.length > 1 && declares.test(rootOf(node.expression))) {
      const [title] = node.arguments;
      if (title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) {
        const { line } = file.getLineAndCharacterOfPosition(title.getStart(file));
        titles.push({ line: line + 1, text: wordsOf(title) });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return titles;
}

/** The name at the left end: `it` of `it.skipIf(…).each(…)`. */
function rootOf(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text;
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return rootOf(node.expression);
  return ts.isTaggedTemplateExpression(node) ? rootOf(node.tag) : '';
}

/** What is inserted at run time is a placeholder here, as `%s` is. */
function wordsOf(title: ts.StringLiteralLike | ts.TemplateExpression): string {
  if (ts.isStringLiteralLike(title)) return title.text;
  return title.head.text + title.templateSpans.map(({ literal }) => `%s${literal.text}`).join('');
}

const mostWords = 20;
const words = (text: string) => new Set(text.trim().split(/\s+/));

/** A title that begins with one of these has its subject elsewhere, in the `describe` or in the file. */
const leaning = words(`
  am are be been can cannot could did do had have may might must shall should was were will would
  abort begin bring claim come compile cost fail get give go hold install keep lead leave list lose make name obey
  pass point print refuse run see share stay store suggest surface take wait wake
  alone also and but either even given held here hidden it neither never nor not of only or partly same so still stored
  than that their them then there these they this those to too which who whom whose
`);
/** A clause or a phrase that comes first: the subject has to follow, behind a comma. */
const openers = words(`
  about after although as at because before behind beside between by during for from if in into on once since through
  under until when where while with within without
`);
/** A first word that ends with s is a verb, unless it is one of these. */
const plurals = words(`
  acknowledgements appends backends checkpoints claimers clients columns commands completions connections definitions deliveries events
  failures functions handlers heartbeats ids instances items kits leases listeners messages migrations migrators
  options pages parameters partitions payloads perspectives publishers receivers receptors renewals reports rows schemas scopes senders
  services sessions statements status strategies streams subscribers subscriptions tables times transactions
  transports units versions workers writers zombies
`);

/** Why the title cannot be understood alone, as far as its form shows it. */
export function faultOf(title: string): string | undefined {
  if (/^(?:%\w|\$[\w.]+)$/.test(title)) return 'is only a placeholder';
  if (title.startsWith('(')) return 'begins with a remark: name the subject';
  const all = title.split(/\s+/);
  if (all.length > mostWords) return `has ${all.length} words; ${mostWords} have to do`;
  const first = (all[0] ?? '').replace(/[,:;]$/, '');
  const word = first.charAt(0).toLowerCase() + first.slice(1);
  const isVerb = /^[a-z]*[a-rt-z]s$/.test(word) && !plurals.has(word);
  if (leaning.has(word) || isVerb) return `begins with "${first}": name the subject`;
  if (openers.has(word) && !title.includes(','))
    return `begins with "${first}", and no subject follows a comma`;
  return undefined;
}
