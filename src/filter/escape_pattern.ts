export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/#-]/g, "\\$&");
}
