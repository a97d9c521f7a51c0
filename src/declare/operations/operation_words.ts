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

const NAMES: Readonly<Record<keyof OperationWords, true>> = {
  summary: true,
  description: true,
  tags: true,
  deprecated: true,
  example: true,
  operationId: true,
};

/** Tells whether a name is that of an option that tells something. */
export function isOperationWord(name: string): name is keyof OperationWords {
  return Object.hasOwn(NAMES, name);
}

/** Gives the options of an operation that tell something. */
export function wordsOf(options: object): OperationWords {
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => isOperationWord(name) && value !== undefined),
  );
}
