/** The collections that all servers serve, their routes and their documents. Every run has the same documents. @module */

/** The sizes of the collections that lists are read from. */
export const SIZES = [10, 20, 100, 1_000, 10_000, 100_000] as const;

/** The collections of entities that are created, updated one by one, and replaced or changed all at once. */
export const CREATED = "created";
export const UPDATED = "updated";
export const CHANGED = "changed";

/** The number of entities of {@linkcode UPDATED}, and of the collection that `one` reads. */
export const TARGETS = 1_000;

/** The collection that pages are read from. */
export const RANKED = "ranked";
export const RANKED_COUNT = 1_000;

/** The collection that the entities of {@linkcode RANKED} refer to. A page of 50 names each writer once or twice. */
export const WRITERS = "writers";
export const WRITER_COUNT = 40;

/** The routes of pages of {@linkcode RANKED}: with the total, and with each entity's writer. */
export const PAGED = "paged";
export const POPULATED = "populated";

/** The collection whose pages are read at growing depth, and its indexed field. */
export const DEEP = "deep";
export const DEEP_SORT = "created";

/** The numbers of fields of the entities of wide collections. */
export const FIELD_COUNTS = [5, 20, 80, 200] as const;
export const WIDE_COUNT = 20;

/** The sizes of the collections that are grouped. */
export const GROUPED_SIZES = [TARGETS, 100_000] as const;

/** The number of entities that one request creates or changes, and the collection of entities with files. */
export const MANY = TARGETS;
export const SCANS = "scans";

/** The options of classes whose cost is measured. */
export const CLASS_OPTIONS = ["none", "stamps", "history", "trash", "tenant"] as const;
export type ClassOption = typeof CLASS_OPTIONS[number];

/** Who sends all requests to the classes with options: the tenant, and the user. */
export const SENDER = { shop: "north", user: "ada" } as const;

/** The key of all requests with a key, and the collection of tokens of servers by hand. */
export const KEY = "mgv_8t7plbii_kPeI2gAbXpKjUFombVO8WaB7q749qpklg9s4wED8Hpc1EmSWI";
export const TOKENS = "tokens";

/** The value that a hook gets for an entity, with `named` for an object with the fields that the hook names. */
export type HookKind = "documents" | "lean" | "named";

export const itemId = (index: number) => `65a0c0de${index.toString(16).padStart(16, "0")}`;
export const itemsOf = (size: number) => `items${size}`;
export const wideOf = (fields: number) => `wide${fields}`;
export const guarded = (kind: string, collection: string) => `${kind}-${collection}`;
export const grouped = (collection: string) => `grouped-${collection}`;
export const owned = (option: ClassOption) => `owned-${option}`;
export const keyed = (collection: string) => `keyed-${collection}`;
export const written = (collection: string) => `written-${collection}`;

/** The routes of the list of {@linkcode TARGETS} entities whose hook gets documents, and plain objects. */
export const HOOKED = guarded("documents", itemsOf(TARGETS));
export const LEAN_HOOKED = guarded("lean", itemsOf(TARGETS));

/** The collections of items, each with its number of entities at the start. */
export const COLLECTIONS: ReadonlyMap<string, number> = new Map([
  ...SIZES.map((size): [string, number] => [itemsOf(size), size]),
  [UPDATED, TARGETS],
  [CHANGED, TARGETS],
  [CREATED, 0],
]);

/** The collections that routes with hooks serve. */
export const GUARDED: readonly string[] = [itemsOf(20), itemsOf(TARGETS), UPDATED, CREATED];

const WORDS = "The quick brown fox jumps over the lazy dog and finds that nothing is left to do. ";
const TAGS = ["typescript", "mongodb", "rest", "deno", "node", "stream", "schema"];

export type ItemBody = ReturnType<typeof itemBody>;

export function itemBody(index: number) {
  const body = {
    title: `Title of item ${index}`,
    text: "",
    author: `Author ${index % 97}`,
    stars: index % 6,
    price: (index % 1_000) + 0.25,
    published: index % 3 !== 0,
    created: new Date(Date.UTC(2024, 0, 1) + index * 60_000),
    tags: [0, 1, 2, 3].map((step) => TAGS[(index + step) % TAGS.length] as string),
  };
  // In a list, with the comma behind it, it has 440 bytes
  const missing = 439 - JSON.stringify({ _id: itemId(index), ...body, __v: 0 }).length;
  body.text = WORDS.repeat(Math.ceil(missing / WORDS.length)).slice(0, missing);
  return body;
}

/** Returns the body of an update: two fields with values that no item has. */
export function itemPatch(index: number): Pick<ItemBody, "title" | "stars"> {
  return { title: `Title number ${index}`, stars: 6 + index % 7 };
}

/** Each rank occurs once, as the factor is prime. The order is not that of identifiers. */
export const rankOf = (index: number): number => index * 7_919 % RANKED_COUNT;

/** Neighbours by rank have different writers. */
export const writerOf = (index: number): number => rankOf(index) % WRITER_COUNT;

export function writerBody(index: number) {
  return {
    name: `Writer ${index}`,
    about: `Writes about ${index} things that nobody else has ever written about, and lives well.`,
    joined: new Date(Date.UTC(2020, 0, 1 + index)),
  };
}

const WIDE_TYPES = [String, Number, Boolean, Date] as const;

/** Returns the names of the fields of a wide collection, each with its type. */
export function wideFields(count: number): [name: string, type: typeof WIDE_TYPES[number]][] {
  return Array.from({ length: count }, (_, place) => {
    return [`field${place}`, WIDE_TYPES[place % WIDE_TYPES.length] ?? String];
  });
}

export function wideBody(index: number, count: number): Record<string, unknown> {
  const values = wideFields(count).map(([name, type], place) => {
    if (type === String) return [name, `Text ${place} of ${itemId(index)}`];
    if (type === Date) return [name, new Date(Date.UTC(2024, 0, 1 + place, index))];
    return [name, type === Number ? index * 1_000 + place : place % 8 === 2];
  });
  return Object.fromEntries(values);
}
