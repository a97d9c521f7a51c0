/**
 * Matches a text that a spreadsheet would run as a formula. Also matches a text that begins with `'`, because a
 * spreadsheet would remove this `'`.
 */
const FORMULA = /^[=+\-@\t\r']/;

/** Returns the text of a CSV cell with `'` before a formula, so that no spreadsheet runs the text. */
export function markFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** Returns the text of a CSV cell without the `'` that `markFormula()` has set. */
export function unmarkFormula(text: string): string {
  const rest = text.slice(1);
  return text.startsWith("'") && FORMULA.test(rest) ? rest : text;
}
