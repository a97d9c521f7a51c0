/** A class with such a name would hide a global or an import that the model file needs. */
export const USED: readonly string[] = [
  ...["Array", "BigInt", "Boolean", "Buffer", "Date", "Error", "Framework", "FrameworkModel"],
  ...["Function", "Hidden", "Map", "Number", "Object", "Ref", "Reflect", "Schema", "String"],
  ...["Symbol", "TypeError", "WeakMap", "WeakSet"],
];

/** In characters of at most four bytes. File systems refuse names of more than 255 bytes. */
const MAX_FILE_NAME = 60;

/** Paths that the written application uses already. */
const TAKEN = ["/admin", "/docs", "/openapi.json"];

/** Case is ignored, because some file systems ignore it. */
export class Names {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set([...taken].map((name) => name.toLowerCase()));
  }

  take(name: string, separator = ""): string {
    let free = name;
    for (let count = 2; this.#taken.has(free.toLowerCase()); count++) {
      free = `${name}${separator}${count}`;
    }
    this.#taken.add(free.toLowerCase());
    return free;
  }
}

export interface ModelNames {
  readonly name: string;
  readonly file: string;
  readonly route: string;
}

/** Collections in `known`, which an earlier run has named, keep their names. */
export function nameModels(
  collections: readonly string[],
  known: ReadonlyMap<string, ModelNames>,
): Map<string, ModelNames> {
  const given = [...known.values()];
  const names = new Names([...USED, ...given.map(({ name }) => name)]);
  const files = new Names(given.map(({ file }) => file));
  const routes = new Names([...TAKEN, ...given.map(({ route }) => route)]);
  return new Map(collections.map((collection) => {
    const found = known.get(collection);
    if (found !== undefined) return [collection, found];
    const name = names.take(className(collection, "Collection"));
    const words = wordsOf(name).join("_").toLowerCase();
    const file = files.take([...words].slice(0, MAX_FILE_NAME).join(""), "_");
    const route = routes.take(`/${collection.replaceAll(/[^\w-]+/g, "_")}`, "_");
    return [collection, { name, file, route }];
  }));
}

export function className(text: string, fallback: string): string {
  const words = wordsOf(text);
  const last = words.pop();
  return joined(last === undefined ? words : [...words, singular(last)], fallback);
}

export function partName(text: string): string {
  return joined(wordsOf(text), "Part");
}

function joined(words: readonly string[], fallback: string): string {
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^\p{ID_Start}/u.test(name) ? name : fallback + name;
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{ID_Start}\p{Nd}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u).filter((word) =>
    word !== ""
  );
}

const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ["children", "child"],
  ["men", "man"],
  ["people", "person"],
  ["women", "woman"],
]);

export function singular(word: string): string {
  const irregular = IRREGULAR.get(word.toLowerCase());
  if (irregular !== undefined) return irregular;
  if (/(ss|us|is|news|series|species)$/i.test(word)) return word;
  if (/(mov|cook|calor)ies$/i.test(word) || !/..s$/i.test(word)) {
    return word.replace(/(?<=ie)s$/i, "");
  }
  if (/[^aeiou]ies$/i.test(word)) return word.replace(/ies$/i, "y");
  return word.replace(/(?<=ss|us|x|ch|sh)es$|s$/i, "");
}
