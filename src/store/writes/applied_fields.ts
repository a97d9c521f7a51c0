import mongoose from "mongoose";
import { StoreFailure } from "../../errors/failure.ts";
import { copyJson, isJsonObject } from "../../schema/fields/json.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { putAt, storedList, type StoredObject, storedText, valueAt } from "../values.ts";
import { updatedFields } from "./written_entity.ts";

const { Decimal128, Double, Int32, Long } = mongoose.mongo;

/** Returns the changed fields, `undefined` if missing. Throws "changed" where the database would refuse the update. */
export function appliedFields(stored: StoredObject, update: Update): StoredObject {
  // The database adds new fields in the order of their names.
  const names = updatedFields(update).sort();
  const fields = Object.fromEntries(names.map((name) => [name, copyJson(stored[name])]));
  const all = Object.entries(update).flatMap(([operator, paths]) =>
    Object.entries(paths).map(([path, operand]) => ({ operator, path, operand }))
  );
  for (const { operator, path, operand } of all.sort(byPath)) {
    const apply = OPERATORS[operator];
    if (apply === undefined) throw new TypeError(`An entity is not changed by "${operator}"`);
    const before = valueAt(fields, path);
    const changesNothing = before === undefined && TAKING.has(operator);
    if (changesNothing && operator === "$unset") continue;
    putAt(changesNothing ? copyJson(fields) as StoredObject : fields, {
      path,
      value: apply(before, operand),
    });
  }
  return Object.fromEntries(names.map((name) => [name, fields[name]]));
}

function byPath({ path: a }: { readonly path: string }, { path: b }: { readonly path: string }) {
  return a < b ? -1 : 1;
}

const TAKING = new Set(["$unset", "$pull", "$pullAll", "$pop"]);

type Operator = (stored: unknown, operand: unknown) => unknown;

const OPERATORS: Readonly<Record<string, Operator>> = {
  $set: (_stored, value) => value,
  $unset: () => undefined,
  $inc: sumOf,
  $push(stored, operand) {
    const { position, values } = addedBy(operand);
    const list = [...storedList(stored)];
    list.splice(position, 0, ...values);
    return list;
  },
  $addToSet(stored, operand) {
    const list = [...storedList(stored)];
    const there = new Set(list.map(storedText));
    for (const value of addedBy(operand).values) {
      const text = storedText(value);
      if (!there.has(text)) list.push(value);
      there.add(text);
    }
    return list;
  },
  $pull(stored, operand) {
    const { $in: values, ...selector } = operand as PullSelector;
    if (values !== undefined) return without(stored, values);
    const isPulled = pulledBy(selector);
    return storedList(stored).filter((each) =>
      !isJsonObject(each) || !isPulled(each as StoredObject)
    );
  },
  $pullAll: (stored, values) => without(stored, values as unknown[]),
  $pop: (stored, end) =>
    Number(end) < 0 ? storedList(stored).slice(1) : storedList(stored).slice(0, -1),
};

/** Mongoose names elements by their `_id`, and elements without `_id` by all their values. */
interface PullSelector {
  readonly $in?: readonly unknown[];
  readonly _id?: unknown;
  readonly $or?: readonly StoredObject[];
}

function pulledBy({ _id: id, $or }: PullSelector): (element: StoredObject) => boolean {
  if (id === undefined && $or === undefined) return () => false;
  const { $in: ids = [id] } = Object(id) as { $in?: unknown[] };
  const names = id === undefined ? undefined : new Set(ids.map(textOf));
  const all = $or?.map((values) =>
    Object.entries(values).map(([name, value]) => [name, textOf(value)] as const)
  );
  return (element) =>
    names?.has(textOf(element._id)) !== false &&
    all?.some((texts) => texts.every(([name, text]) => textOf(element[name]) === text)) !== false;
}

/** In a condition of MongoDB, `null` also matches a missing value, so both get the same string. */
function textOf(value: unknown): string {
  return storedText(value ?? null);
}

function addedBy(
  operand: unknown,
): { readonly values: readonly unknown[]; readonly position: number } {
  if (!isJsonObject(operand) || !Array.isArray(operand.$each)) {
    return { values: [operand], position: Infinity };
  }
  const { $each: values, $position: position = Infinity } = operand;
  return { values: values as unknown[], position: Number(position) };
}

function without(stored: unknown, values: readonly unknown[]): unknown[] {
  const gone = new Set(values.map(storedText));
  return storedList(stored).filter((each) => !gone.has(storedText(each)));
}

function sumOf(stored: unknown, operand: unknown): unknown {
  if (stored === undefined) return operand;
  if (stored instanceof Long) return stored.add(Long.fromNumber(Number(operand)));
  const isNumber = [Int32, Double, Decimal128].some((type) => stored instanceof type);
  if (!isNumber && typeof stored !== "number") throw new StoreFailure({ kind: "changed" });
  return Number(stored) + Number(operand);
}
