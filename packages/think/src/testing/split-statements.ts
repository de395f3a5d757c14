/**
 * Cuts a SQL text into its statements. The row counter needs it because a cursor reports the rows of the
 * last statement only. Quoted text, comments and trigger bodies are not cut.
 */

const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/gu;
const blankOrComment = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*$/u;
const trigger = /\bcreate\s+(?:temp\s+|temporary\s+)?trigger\b/iu;

/** The statements in order, without empty ones. A text that defines a trigger is returned whole. */
export function splitStatements(sql: string): readonly string[] {
  if (!sql.includes(";") || trigger.test(sql)) return [sql];
  const statements: string[] = [];
  let start = 0;
  for (const match of sql.matchAll(token)) {
    if (match[0] !== ";") continue;
    statements.push(sql.slice(start, match.index + 1));
    start = match.index + 1;
  }
  statements.push(sql.slice(start));
  const meaningful = statements.filter((statement) => !blankOrComment.test(statement.replace(/;\s*$/u, "")));
  return meaningful.length === 0 ? [sql] : meaningful;
}
