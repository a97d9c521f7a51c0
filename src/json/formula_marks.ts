/**
 * Some spreadsheets skip white space, NUL and invisible characters before a formula, and read full-width signs as
 * signs. They also remove a leading `'`, so such a string needs another `'`.
 */
const FORMULA =
  /^(?:[\t\r\n']|[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@＝＋－＠])/u;

/** A spreadsheet does not run a text that begins with `'`. */
export function markFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

export function unmarkFormula(text: string): string {
  const rest = text.slice(1);
  return text.startsWith("'") && FORMULA.test(rest) ? rest : text;
}
