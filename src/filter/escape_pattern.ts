/** Returns a regular expression of MongoDB, as text, that matches a text literally. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/#-]/g, "\\$&");
}
