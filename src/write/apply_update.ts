import { isJsonObject } from "../schema/fields/json.ts";
import { storedText } from "./stored_text.ts";

/** An update of the database, by operator and path. */
export type Update = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A stored object. */
export type StoredObject = Record<string, unknown>;

/** Changes what an object, or a list, holds under a key. */
type Change = (holder: StoredObject, key: string, given: unknown) => void;

/**
 * Gives what an update makes of a stored document, as the database would. The operators are those that Mongoose writes
 * for a changed document.
 *
 * @param root The document; it is not changed.
 * @param update The update. Its paths name elements by array filters, `$[name]`.
 * @param elements The identifier of the element that each array filter names.
 * @throws {TypeError} If an operator is another one: nobody could judge the result.
 */
export function applyUpdate(
  root: StoredObject,
  { update, elements }: { update: Update; elements: Readonly<Record<string, unknown>> },
): StoredObject {
  const result = copy(root) as StoredObject;
  for (const [operator, paths] of Object.entries(update)) {
    const change = CHANGES[operator];
    if (change === undefined) {
      throw new TypeError(`Cannot judge an update: "${operator}" is unknown`);
    }
    for (const [path, given] of Object.entries(paths)) {
      changeAt(result, path.split("."), (holder, key) => change(holder, key, given), elements);
    }
  }
  return result;
}

const CHANGES: Readonly<Record<string, Change>> = {
  $set(holder, key, given) {
    holder[key] = given;
  },
  $unset(holder, key) {
    if (Array.isArray(holder)) holder[key as never] = null as never;
    else delete holder[key];
  },
  $inc(holder, key, given) {
    holder[key] = Number(holder[key] ?? 0) + Number(given);
  },
  $push(holder, key, given) {
    const list = listIn(holder, key);
    const { $position = list.length } = Object(given) as { $position?: number };
    list.splice($position, 0, ...valuesOf(given));
  },
  $addToSet(holder, key, given) {
    const list = listIn(holder, key);
    const known = new Set(list.map(storedText));
    list.push(...valuesOf(given).filter((each) => !known.has(storedText(each))));
  },
  $pullAll(holder, key, given) {
    drop(holder, key, (given as unknown[]).map((each) => isSame(each)));
  },
  $pull(holder, key, given) {
    drop(holder, key, [matcherOf(given)]);
  },
  $pop(holder, key, given) {
    const list = listIn(holder, key);
    if (Number(given) < 0) list.shift();
    else list.pop();
  },
};

/** Follows a path, makes the objects that it lacks, and changes what is at its end. */
function changeAt(
  holder: StoredObject,
  [key, ...rest]: readonly string[],
  change: (holder: StoredObject, key: string) => void,
  elements: Readonly<Record<string, unknown>>,
): void {
  if (key === undefined) return;
  const [, name] = /^\$\[(.+)\]$/.exec(key) ?? [];
  if (name !== undefined) {
    const isNamed = matcherOf({ _id: elements[name] });
    for (const [index, each] of Object.entries(holder)) {
      if (isNamed(each)) changeAt(holder, [index, ...rest], change, elements);
    }
    return;
  }
  if (rest.length === 0) return change(holder, key);
  const inner = holder[key] ??= {};
  if (typeof inner === "object") changeAt(inner as StoredObject, rest, change, elements);
}

/** The list under a key. The database refuses to add to what is none. */
function listIn(holder: StoredObject, key: string): unknown[] {
  const list = holder[key] ??= [];
  return Array.isArray(list) ? list : [];
}

function valuesOf(given: unknown): readonly unknown[] {
  const { $each } = Object(given) as { $each?: unknown };
  return Array.isArray($each) ? $each : [given];
}

function drop(
  holder: StoredObject,
  key: string,
  matchers: readonly ((value: unknown) => boolean)[],
): void {
  const list = listIn(holder, key);
  holder[key] = list.filter((each) => !matchers.some((matches) => matches(each)));
}

/** The conditions that say which elements `$pull` takes: a value, a list of them, or the same of their identifier. */
function matcherOf(condition: unknown): (value: unknown) => boolean {
  const { $in, _id } = Object(condition) as { $in?: unknown; _id?: unknown };
  if (Array.isArray($in)) {
    const texts = new Set($in.map(storedText));
    return (value) => texts.has(storedText(value));
  }
  if (_id === undefined || !isJsonObject(condition)) return isSame(condition);
  const isNamed = matcherOf(_id);
  return (value) => isJsonObject(value) && Object.hasOwn(value, "_id") && isNamed(value._id);
}

function isSame(expected: unknown): (value: unknown) => boolean {
  const text = storedText(expected);
  return (value) => storedText(value) === text;
}

/** Copies objects and lists. Values of the database are shared: nothing here changes them. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(each)]));
}
