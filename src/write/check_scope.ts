import mongoose from "mongoose";
import type { Connection, Document } from "mongoose";
import { outOfReach } from "../errors/refusals.ts";
import type { Filter } from "../filter/filters.ts";
import { copyJson, isJsonObject } from "../schema/fields/json.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { storedText, storedValues } from "./stored_values.ts";
import type { StoredObject } from "./stored_values.ts";

/** The types of values that can be compared without the database. */
const COMPARABLE = new Set(["string", "number", "boolean"]);

/** Throws a 403 unless a document, as it is about to be written, is inside a scope. */
export async function checkScope(doc: Document, scope: Filter): Promise<void> {
  await checkValues(storedValues(doc), scope, { connection: doc.db });
}

/** Checks values like {@linkcode checkScope}: the database matches them, without storing them, where it must. */
export async function checkValues(
  values: Filter,
  scope: Filter,
  { connection }: { readonly connection: Connection },
): Promise<void> {
  if (isKnownWithin(values, scope)) return;
  const [match] = await connection.db?.aggregate([
    { $documents: [{ $literal: values }] },
    { $match: scope },
    { $project: { _id: 1 } },
  ]).toArray() ?? [];
  if (match === undefined) throw outOfReach();
}

/** Whether values are certainly inside a scope of equalities. With `false`, the database must tell. */
function isKnownWithin(values: Filter, scope: Filter): boolean {
  return Object.entries(scope).every(([path, value]) =>
    path === "$and" && Array.isArray(value)
      ? value.every((each) => isKnownWithin(values, each))
      : !path.includes(".") && isEqual(values[path], value)
  );
}

function isEqual(value: unknown, expected: unknown): boolean {
  if (expected instanceof mongoose.Types.ObjectId) {
    // ObjectId.equals() takes texts and look-alikes for identifiers, which the database does not.
    return value instanceof mongoose.Types.ObjectId && expected.equals(value);
  }
  return COMPARABLE.has(typeof expected) && value === expected;
}

export function writtenPaths(update: Update): string[] {
  return Object.values(update).flatMap((paths) => Object.keys(paths));
}

interface Target {
  readonly holder: StoredObject;
  readonly key: string;
}

interface NamedElements {
  /** The identifiers of the elements that array filters, `$[name]`, name. */
  readonly elements: Readonly<Record<string, unknown>>;
}

/** Applies an update to a copy of a stored document, as the database would. Mongoose writes no other operators. */
export function applyUpdate(
  root: StoredObject,
  { update, elements }: NamedElements & { readonly update: Update },
): StoredObject {
  const result = copyJson(root) as StoredObject;
  for (const [operator, paths] of Object.entries(update)) {
    const change = CHANGES[operator];
    if (change === undefined) {
      throw new TypeError(`Cannot judge an update: "${operator}" is unknown`);
    }
    for (const [path, given] of Object.entries(paths)) {
      for (const target of targetsAt(result, path.split("."), { elements })) change(target, given);
    }
  }
  return result;
}

const CHANGES: Readonly<Record<string, (target: Target, given: unknown) => void>> = {
  $set({ holder, key }, given) {
    holder[key] = given;
  },
  $unset({ holder, key }) {
    if (Array.isArray(holder)) holder[key as never] = null as never;
    else delete holder[key];
  },
  $inc({ holder, key }, given) {
    holder[key] = Number(holder[key] ?? 0) + Number(given);
  },
  $push(target, given) {
    const list = listAt(target);
    const { $position = list.length } = Object(given) as { $position?: number };
    list.splice($position, 0, ...valuesOf(given));
  },
  $addToSet(target, given) {
    const list = listAt(target);
    const known = new Set(list.map(storedText));
    list.push(...valuesOf(given).filter((each) => !known.has(storedText(each))));
  },
  $pullAll(target, given) {
    drop(target, (given as unknown[]).map(isSame));
  },
  $pull(target, given) {
    drop(target, [matcherOf(given)]);
  },
  $pop(target, given) {
    const list = listAt(target);
    if (Number(given) < 0) list.shift();
    else list.pop();
  },
};

/** Follows a path, and makes the objects that it lacks. */
function* targetsAt(
  holder: StoredObject,
  [key, ...rest]: readonly string[],
  { elements }: NamedElements,
): Generator<Target> {
  if (key === undefined) return;
  const [, name] = /^\$\[(.+)\]$/.exec(key) ?? [];
  if (name !== undefined) {
    const isNamed = matcherOf({ _id: elements[name] });
    for (const [index, each] of Object.entries(holder)) {
      if (isNamed(each)) yield* targetsAt(holder, [index, ...rest], { elements });
    }
  } else if (rest.length === 0) yield { holder, key };
  else {
    const inner = holder[key] ??= {};
    if (typeof inner === "object") yield* targetsAt(inner as StoredObject, rest, { elements });
  }
}

/** The list that an update adds to. The database refuses to add to anything else. */
function listAt({ holder, key }: Target): unknown[] {
  const list = holder[key] ??= [];
  return Array.isArray(list) ? list : [];
}

function valuesOf(given: unknown): readonly unknown[] {
  const { $each } = Object(given) as { $each?: unknown };
  return Array.isArray($each) ? $each : [given];
}

function drop(target: Target, matchers: readonly ((value: unknown) => boolean)[]): void {
  const { holder, key } = target;
  holder[key] = listAt(target).filter((each) => !matchers.some((matches) => matches(each)));
}

/** Matches the elements that `$pull` removes: those equal to a value, or to one of a list, or whose identifier is. */
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
