export interface DeclaredIndex {
  readonly keys: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
}

export type StoredIndex = Readonly<Record<string, unknown>> & {
  readonly name?: string;
  readonly key: Readonly<Record<string, unknown>>;
};

/** Default options, which are not declared. */
const OPTIONS: Readonly<Record<string, unknown>> = {
  unique: false,
  sparse: false,
  hidden: false,
  expireAfterSeconds: undefined,
  partialFilterExpression: undefined,
  wildcardProjection: undefined,
  bits: 26,
  min: -180,
  max: 180,
  "default_language": "english",
  "language_override": "language",
};

const KINDS: ReadonlySet<unknown> = new Set([1, -1, "text", "2dsphere", "2d", "hashed"]);

/** The maximum of `expireAfterSeconds` in MongoDB. */
const MAX_TTL_SECONDS = 2 ** 31 - 1;

export function declareIndex(
  { name, key, ...stored }: StoredIndex,
  defaultCollation: unknown,
): DeclaredIndex | string {
  const weights = (stored.weights ?? {}) as Record<string, number>;
  const texts = Object.keys(weights).map((field) => [field, "text"] as const);
  const keys = Object.fromEntries(
    Object.entries(key).flatMap(([field, kind]) =>
      field === "_fts" ? texts : field === "_ftsx" ? [] : [[field, kind] as const]
    ),
  );
  const options: Record<string, unknown> = {};
  for (const [option, usual] of Object.entries(OPTIONS)) {
    if (stored[option] !== undefined && stored[option] !== usual) options[option] = stored[option];
  }
  if (Object.values(weights).some((weight) => weight !== 1)) options.weights = weights;
  const { version: _, ...collation } = (stored.collation ?? {}) as Record<string, unknown>;
  if (stored.collation !== undefined) options.collation = collation;
  else if (defaultCollation !== undefined) options.collation = { locale: "simple" };
  // MongoDB refuses an equal index with another name, so an unusual name is declared.
  const usualName = Object.entries(keys).map((each) => each.join("_")).join("_");
  if (name !== usualName) options.name = name;
  const problem = problemOf({ keys, options });
  return problem ?? { keys, options };
}

function problemOf({ keys, options }: DeclaredIndex): string | undefined {
  const kind = Object.values(keys).find((each) => !KINDS.has(each));
  if (kind !== undefined) return `the kind ${JSON.stringify(kind)}`;
  // In an object literal, `__proto__` sets the prototype.
  if (Object.hasOwn(keys, "__proto__")) return "no field can have the name";
  const { expireAfterSeconds: seconds = 0, partialFilterExpression: filter } = options;
  if (typeof seconds !== "number" || !(seconds >= 0 && seconds <= MAX_TTL_SECONDS)) {
    return "its time to live";
  }
  return isJson(filter) ? undefined : "values in its filter that JSON does not have";
}

function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== "object" || value === null) return typeof value !== "bigint";
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}
