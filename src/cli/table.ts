/** Lines of a table: columns that are aligned, numbers to the right. No colours: it is also read by programs. */
export function tableText(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const widths = heads.map((head, i) =>
    Math.max(head.length, ...rows.map((row) => String(row[i] ?? '').length)),
  );
  const line = (cells: readonly (string | number)[]) =>
    cells
      .map((cell, i) =>
        typeof cell === 'number' ? String(cell).padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(heads), ...rows.map(line)].join('\n');
}
