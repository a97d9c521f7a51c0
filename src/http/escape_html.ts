/** Returns a text for HTML, in which the signs of the markup are character references. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
