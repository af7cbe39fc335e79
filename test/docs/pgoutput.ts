// Reads what the output plug-in pgoutput writes, as much of it as a test needs: the columns of a table and its inserted rows.

/** The inserted rows, in their order. Throws when anything but an insert is among the changes. */
export function insertedRows(messages: readonly Buffer[]): Record<string, string | null>[] {
  const rows: Record<string, string | null>[] = [];
  let columns: readonly string[] = [];
  for (const message of messages) {
    const kind = String.fromCharCode(message[0] as number);
    if (kind === 'R') columns = columnsOf(message);
    else if (kind === 'I') rows.push(rowOf(message, columns));
    else if (!['B', 'C', 'O', 'Y', 'M'].includes(kind)) throw new Error(`a change of the kind ${kind}`);
  }
  return rows;
}

/** Relation: id, schema, name, replica identity, columns of flags, name, type and modifier. */
function columnsOf(message: Buffer): string[] {
  let at = 5;
  const text = () => {
    const end = message.indexOf(0, at);
    const found = message.toString('utf8', at, end);
    at = end + 1;
    return found;
  };
  text();
  text();
  at += 1;
  const count = message.readInt16BE(at);
  at += 2;
  return Array.from({ length: count }, () => {
    at += 1;
    const name = text();
    at += 8;
    return name;
  });
}

/** Insert: id, 'N', columns of 'n' (null) or 't' with a length and a text. */
function rowOf(message: Buffer, columns: readonly string[]): Record<string, string | null> {
  let at = 8;
  const values = columns.map((column): [string, string | null] => {
    const kind = String.fromCharCode(message[at] as number);
    at += 1;
    if (kind !== 't') return [column, null];
    const length = message.readInt32BE(at);
    const value = message.toString('utf8', at + 4, at + 4 + length);
    at += 4 + length;
    return [column, value];
  });
  return Object.fromEntries(values);
}
