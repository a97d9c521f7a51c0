import { isDeepStrictEqual } from "node:util";

/** What the description of an API tells people of an operation. */
export interface OperationWords {
  /** What the operation does, in a few words. */
  readonly summary?: string | undefined;
  /** What the operation does, in CommonMark. */
  readonly description?: string | undefined;
  /**
   * The groups of the operation in the description.
   *
   * @default {the name of the class}
   */
  readonly tags?: readonly string[] | undefined;
  /**
   * Whether clients should stop using the operation.
   *
   * @default {false}
   */
  readonly deprecated?: boolean | undefined;
  /**
   * An example: the body of `create()` and `update()`, or an entity in the answer of `all()` and `one()`, where it has
   * no field that is hidden or `select: false`. It holds values of JSON.
   */
  readonly example?: object | undefined;
  /**
   * The name of the operation in generated clients. No other operation may have it.
   *
   * @default {the operation and the path, such as `allMovies`}
   */
  readonly operationId?: string | undefined;
}

const WORDS: Readonly<Record<keyof OperationWords, (value: unknown) => string | undefined>> = {
  summary: asText,
  description: asText,
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => asText(tag) === undefined)
      ? undefined
      : "a list of texts",
  deprecated: (value) => typeof value === "boolean" ? undefined : "true or false",
  example: (value) => !Array.isArray(value) && isJsonText(value) ? undefined : "an object of JSON",
  operationId: (value) =>
    typeof value === "string" && /^[A-Za-z_][\w.-]*$/.test(value)
      ? undefined
      : "a name of letters, digits and _",
};

/** Tells whether a name is that of an option that tells something. */
export function isOperationWord(name: string): name is keyof OperationWords {
  return Object.hasOwn(WORDS, name);
}

/** Gives the options of an operation that tell something. */
export function wordsOf(options: object): OperationWords {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => isOperationWord(name) && value !== undefined),
  );
}

/** Gives what is wrong with one of these options, if anything. */
export function wordProblem(options: object): string | undefined {
  for (const [name, value] of Object.entries(wordsOf(options))) {
    const expected = WORDS[name as keyof OperationWords](value);
    if (expected !== undefined) return `"${name}", which is not ${expected}`;
  }
  return undefined;
}

function isJsonText(value: unknown): boolean {
  try {
    return typeof value === "object" && value !== null &&
      isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value);
  } catch {
    // Cycles and bigints have no text
    return false;
  }
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? undefined : "a text";
}
