/** The fields of an entity that a client may write. */
export interface ItemBody {
  /** A short text. */
  title: string;
  /** A long one, which fills the document up to {@linkcode ITEM_BYTES}. */
  text: string;
  /** Another short one. */
  author: string;
  /** A whole number. */
  stars: number;
  /** A number with a fraction. */
  price: number;
  /** A flag. */
  published: boolean;
  /** A date in ISO form; a date in the database. */
  created: string;
  /** An array of texts. */
  tags: string[];
}

/** The length of an entity's JSON text, with the comma that follows it in a list. */
export const ITEM_BYTES = 440;

const WORDS = "The quick brown fox jumps over the lazy dog and finds that nothing is left to do. ";
const TAGS = ["typescript", "mongodb", "rest", "deno", "node", "stream", "schema"];
const FIRST_DAY = Date.UTC(2024, 0, 1);

/** Gives the identifier of an entity: 24 hexadecimal digits. */
export function itemId(index: number): string {
  return `65a0c0de${index.toString(16).padStart(16, "0")}`;
}

/** Makes the body of an entity, the same one for the same index at every run. */
export function itemBody(index: number): ItemBody {
  const body = {
    title: `Title of item ${index}`,
    text: "",
    author: `Author ${index % 97}`,
    stars: index % 6,
    price: (index % 1_000) + 0.25,
    published: index % 3 !== 0,
    created: new Date(FIRST_DAY + index * 60_000).toISOString(),
    tags: [0, 1, 2, 3].map((step) => TAGS[(index + step) % TAGS.length] as string),
  };
  const shown = JSON.stringify({ _id: itemId(index), ...body, __v: 0 });
  const missing = ITEM_BYTES - 1 - shown.length;
  body.text = WORDS.repeat(Math.ceil(missing / WORDS.length)).slice(0, missing);
  return body;
}

/** Makes the body of an update: two scalar fields with values that the entity does not have. */
export function itemPatch(index: number): Pick<ItemBody, "title" | "stars"> {
  return { title: `Title number ${index}`, stars: 6 + index % 7 };
}
