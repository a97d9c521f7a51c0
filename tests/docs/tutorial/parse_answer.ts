/** Splits an answer of a page into its status and its body; JSON is parsed, so that the order of keys does not count. */
export function parseAnswer(answer: string): unknown[] {
  const [, status, text = ""] = /^(\d+) ?(.*)$/s.exec(answer) ?? [];
  return [status, /^[[{].*$/.test(text) ? JSON.parse(text) : text];
}
