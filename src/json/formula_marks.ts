/**
 * Matches a text that a spreadsheet would run as a formula. Some programs skip white space, NUL and invisible
 * characters before a formula, and read full-width signs as signs. Also matches a text that begins with `'`, because a
 * spreadsheet would remove this `'`.
 */
const FORMULA =
  /^(?:[\t\r\n']|[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@＝＋－＠])/u;

/** Returns the text of a CSV cell with `'` before a formula, so that no spreadsheet runs the text. */
export function markFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Returns the text of a CSV cell without the `'` that `markFormula()` has set. */
export function unmarkFormula(text: string): string {
  const rest = text.slice(1);
  return text.startsWith("'") && FORMULA.test(rest) ? rest : text;
}
