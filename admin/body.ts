import type { Field, Value } from "./fields.ts";

/** The values of a form or of an entity. */
type Values = Readonly<Record<string, unknown>>;

/**
 * Whether two values of a field are the same. Forms have `null` for a field without a value. The order of the keys of an
 * object does not matter.
 */
export function isSame(a: unknown, b: unknown): boolean {
  const [first, second] = [a ?? null, b ?? null];
  if (typeof first !== "object" || typeof second !== "object") return first === second;
  if (first === null || second === null) return first === second;
  if (Array.isArray(first) !== Array.isArray(second)) return false;
  const [one, other] = [first as Values, second as Values];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .every((name) => isSame(one[name], other[name]));
}

/** Returns the body of a new entity: the values of a form without its empty fields. */
export function newBody(values: Values, fields: readonly Field[]): Values {
  return objectOf(values, { fields, before: undefined }) ?? {};
}

/** The fields of a form, and the stored entity that the form shows. */
interface Edited {
  readonly fields: readonly Field[];
  readonly before: Values;
}

/**
 * Returns the body of a replacement: all fields of the form. A field that nobody has edited keeps its stored value, also
 * `null` in a list and an object without fields.
 */
export function wholeBody(values: Values, edited: Edited): Values {
  return objectOf(values, edited) ?? {};
}

/** Returns the body of an update: the fields that differ from the stored entity. */
export function changedBody(values: Values, { fields, before }: Edited): Values {
  const body = objectOf(values, { fields, before }) ?? {};
  // The body of an embedded object lacks the fields that no body can set, such as its identifier.
  const stored = objectOf(before, { fields, before }) ?? {};
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !isSame(value, stored[name])),
  );
}

/**
 * Returns an object of a body. Forms have `null` for every empty input, so an empty field that is not stored is left
 * out. An object that has only such fields is left out too.
 */
function objectOf(
  values: Values,
  { fields, before }: { readonly fields: readonly Field[]; readonly before: Values | undefined },
): Values | undefined {
  const entries = fields.filter(({ name }) => values[name] !== undefined).flatMap((field) => {
    const stored = before?.[field.name];
    const value = valueOf(values[field.name], { field, before: stored });
    if (value !== undefined) return [[field.name, value] as const];
    return stored === undefined ? [] : [[field.name, null] as const];
  });
  const isEmpty = entries.length === 0 && before === undefined;
  return isEmpty ? undefined : Object.fromEntries(entries);
}

function valueOf(
  value: unknown,
  { field, before }: { readonly field: Value; readonly before: unknown },
): unknown {
  const { type, fields, items } = field;
  if (value === null || value === undefined) return undefined;
  if (type === "Date") return instantOf(value);
  if (type === "Embedded" && fields !== undefined) {
    return objectOf(value as Values, { fields, before: before as Values | undefined });
  }
  if (type !== "Array" || items === undefined || !Array.isArray(value)) return value;
  const isStored = isSame(value, before);
  const sent = value.map((item) => {
    const body = valueOf(item, { field: items, before: isStored ? item : undefined });
    // The identifier lets a stored element keep the values that the form does not have.
    const id: unknown = Object(item)._id;
    return items.type === "Embedded" && id !== undefined ? { _id: id, ...body as object } : body;
  });
  return isStored ? sent.map((item) => item ?? null) : sent.filter((item) => item !== undefined);
}

/** Returns a date of an input, which has no time zone, as the instant in the time zone of the reader. */
export function instantOf(value: unknown): unknown {
  const time = new Date(String(value)).getTime();
  return Number.isNaN(time) ? value : new Date(time).toISOString();
}
