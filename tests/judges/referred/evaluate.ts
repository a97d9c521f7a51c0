/**
 * An evaluator of filters through references that shares no code with the library. It joins books and authors in memory
 * by the rules of the contract.
 */
import { MAX_REFERRED } from "./library.ts";
import type { ClientFilter, Json } from "./filters.ts";
import { type Reader, sees, type StoredAuthor, type StoredBook, type World } from "./world.ts";

/** Thrown where the contract wants a 400. */
export class Refused extends Error {}

type Operators = Record<string, Json>;

/** A book or a chapter. */
type Data = Readonly<Record<string, unknown>>;

export class Evaluator {
  readonly #visible: ReadonlyMap<string, StoredAuthor>;
  readonly #books: readonly StoredBook[];
  readonly #reader: Reader;

  constructor({ authors, books }: World, reader: Reader) {
    this.#reader = reader;
    const visible = authors.filter((author) => sees(reader, author));
    this.#visible = new Map(visible.map((author) => [String(author._id), author]));
    this.#books = books.filter(({ company }) => company === reader.company);
  }

  /** Returns the books that a filter selects, or `undefined` if the filter is refused. */
  select(filter: ClientFilter): StoredBook[] | undefined {
    try {
      this.#check(filter);
      return this.#books.filter((book) => this.#holds(filter, { ...book }));
    } catch (error) {
      if (error instanceof Refused) return undefined;
      throw error;
    }
  }

  /** Throws if a condition names a hidden field or selects too many authors, wherever it stands. */
  #check(filter: ClientFilter): void {
    for (const [key, condition] of Object.entries(filter)) {
      if (key.startsWith("$")) (condition as ClientFilter[]).forEach((each) => this.#check(each));
      else if (key === "chapters") this.#check(elementsOf(condition as Operators));
      else {
        const [, field] = splitPath(key) ?? [];
        if (field !== undefined) this.#checkReferred(field, condition);
      }
    }
  }

  #checkReferred(field: string, condition: Json): void {
    if (field === "email" && this.#reader.role !== "staff") throw new Refused();
    const { $not, ...others } = operatorsOf(condition);
    if ($not !== undefined) this.#checkReferred(field, $not);
    if ($not !== undefined && Object.keys(others).length === 0) return;
    const found = [...this.#visible.values()].filter((each) => fits(valueIn(each, field), others));
    if (found.length > MAX_REFERRED) throw new Refused();
  }

  #holds(filter: ClientFilter, object: Data): boolean {
    return Object.entries(filter).every(([key, condition]) => {
      const clauses = condition as ClientFilter[];
      if (key === "$and") return clauses.every((each) => this.#holds(each, object));
      if (key === "$or") return clauses.some((each) => this.#holds(each, object));
      if (key === "$nor") return !clauses.some((each) => this.#holds(each, object));
      if (key === "chapters") {
        const inside = elementsOf(condition as Operators);
        const list = (object.chapters ?? []) as readonly Data[];
        const isFound = list.some((each) => this.#holds(inside, each));
        return "$not" in (condition as Operators) ? !isFound : isFound;
      }
      const [reference, field] = splitPath(key) ?? [];
      if (reference === undefined || field === undefined) {
        return holdsOwn(key, { condition, object });
      }
      return this.#holdsReferred(namedBy(object, reference.split(".")), { field, condition });
    });
  }

  /** Whether one of the named entities fulfils a condition. `$not` negates the whole condition. */
  #holdsReferred(
    ids: readonly string[],
    { field, condition }: { readonly field: string; readonly condition: Json },
  ): boolean {
    const { $not, ...others } = operatorsOf(condition);
    if ($not !== undefined && this.#holdsReferred(ids, { field, condition: $not })) return false;
    if ($not !== undefined && Object.keys(others).length === 0) return true;
    return ids.some((id) => {
      const author = this.#visible.get(id);
      return author !== undefined && fits(valueIn(author, field), others);
    });
  }
}

function elementsOf(condition: Operators): ClientFilter {
  const { $elemMatch = Object(condition.$not).$elemMatch } = condition;
  return $elemMatch as ClientFilter;
}

function splitPath(path: string): [reference: string, field: string] | undefined {
  const [, reference, field] =
    /^(authors?(?:\.\d)?|(?:chapters\.(?:\d\.)?)?editor)\.(\D.*)$/.exec(path) ?? [];
  return reference === undefined || field === undefined ? undefined : [reference, field];
}

/** Returns the identifiers at a path, of all elements where the path leads through an array. */
function namedBy(value: unknown, [name, ...rest]: readonly string[]): string[] {
  if (Array.isArray(value) && name !== undefined && /^\d$/.test(name)) {
    return namedBy(value[Number(name)], rest);
  }
  if (Array.isArray(value)) {
    return value.flatMap((each) => namedBy(each, name === undefined ? [] : [name, ...rest]));
  }
  if (name === undefined) return value === null || value === undefined ? [] : [String(value)];
  return namedBy(Object(value)[name], rest);
}

function valueIn(author: StoredAuthor, field: string): unknown {
  return field === "address.city"
    ? author.address?.city
    : (author as unknown as Record<string, unknown>)[field];
}

function operatorsOf(condition: Json): Operators {
  const isValue = typeof condition !== "object" || condition === null || Array.isArray(condition);
  return isValue ? { $eq: condition } : condition;
}

/** Evaluates a condition on a field of the book, or of a chapter, itself. */
function holdsOwn(
  path: string,
  { condition, object }: { readonly condition: Json; readonly object: Data },
): boolean {
  if (path === "chapters.page") {
    const list = (object.chapters ?? []) as readonly Data[];
    return list.some(({ page }) => page === condition);
  }
  const value = path === "author" && object.author ? String(object.author) : object[path];
  return fits(value, operatorsOf(condition));
}

/** Whether a single value fulfils all operators of a condition. */
function fits(value: unknown, operators: Operators): boolean {
  return Object.entries(operators).every(([name, operand]) => {
    switch (name) {
      case "$options":
        return true;
      case "$regex":
        return typeof value === "string" &&
          new RegExp(String(operand), String(operators.$options ?? "")).test(value);
      case "$exists":
        return (value !== undefined) === operand;
      case "$type":
        return [operand].flat().some((type) => value !== undefined && typeOf(value) === type);
      case "$mod": {
        const [divisor, remainder] = operand as [number, number];
        return typeof value === "number" && value % divisor === remainder;
      }
      case "$size":
        return false;
      case "$all":
        return (operand as Json[]).every((each) => isEqual(value, each));
      case "$in":
        return (operand as Json[]).some((each) => isEqual(value, each));
      case "$nin":
        return !(operand as Json[]).some((each) => isEqual(value, each));
      case "$eq":
        return isEqual(value, operand);
      case "$ne":
        return !isEqual(value, operand);
      default:
        return typeof value === typeof operand &&
          compares(name, value as string, operand as string);
    }
  });
}

function isEqual(value: unknown, operand: Json): boolean {
  return (value ?? null) === operand;
}

function compares(operator: string, value: string, operand: string): boolean {
  switch (operator) {
    case "$gt":
      return value > operand;
    case "$gte":
      return value >= operand;
    case "$lt":
      return value < operand;
    case "$lte":
      return value <= operand;
    default:
      throw new TypeError(`Cannot evaluate ${operator}`);
  }
}

function typeOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}
