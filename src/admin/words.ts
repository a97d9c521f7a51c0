/** The names of fields that are likely to name an entity, best first. */
export const NAMES = ["name", "title", "label", "subject", "number"];

/** `openedBy` becomes "Opened by". */
export function readableName(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").replaceAll(/([a-z\d])([A-Z])/g, "$1 $2");
  const text = words.replaceAll(/[A-Z](?=[a-z])/g, (letter) => letter.toLowerCase()).trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function isLong(name: string): boolean {
  return /^(text|note|notes|body|description|content|comment|summary|about|message|details)$/i
    .test(name);
}
