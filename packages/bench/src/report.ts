/** Rows of text in columns. */

/** The first column is text, the others are figures. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
        )
        .join("   ")
        .trimEnd()
    )
    .join("\n");
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
