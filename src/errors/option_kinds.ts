/** MongoDB accepts no longer time for a TTL index. */
export const MAX_TTL_SECONDS = 2 ** 31 - 1;

export const KINDS = {
  boolean: ["a boolean", (value: unknown) => typeof value === "boolean"],
  number: ["a whole number of at least 1", isCount],
  function: ["a function", (value: unknown) => typeof value === "function"],
  group: ["an object", isGroup],
  list: ["a list", (value: unknown) => Array.isArray(value)],
  fields: ["a list of fields", isFilled],
  paths: ["a list of paths", isFilled],
  names: ["a list of names", isNames],
  text: ["a text", (value: unknown) => typeof value === "string" && value !== ""],
} as const;

export type Kind = keyof typeof KINDS;

/** `true` means no check here, because the code that reads the option checks it. */
export type OptionKinds<O> = Readonly<Record<keyof O, true | Kind | readonly string[]>>;

export function wrongOption<O extends object>(
  given: O,
  kinds: OptionKinds<O>,
): string | undefined {
  for (const [name, value] of Object.entries(given)) {
    const kind: true | Kind | readonly string[] = kinds[name as keyof O];
    if (value === undefined || kind === true) continue;
    if (typeof kind === "string") {
      const [words, isOfKind] = KINDS[kind];
      if (!isOfKind(value)) return `"${name}" is not ${words}`;
    } else if (!kind.includes(value)) {
      const allowed = kind.map((word) => `"${word}"`).join(" or ");
      return `"${name}" is ${JSON.stringify(value)}, not ${allowed}`;
    }
  }
  return undefined;
}

export function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function isFilled(value: unknown): value is readonly string[] {
  return isNames(value) && value.length > 0;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

export function isGroup(value: unknown): value is object {
  return Object.prototype.toString.call(value) === "[object Object]";
}
