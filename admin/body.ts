import type { Field, Value } from "./fields.ts";

type Values = Readonly<Record<string, unknown>>;

/** A missing value is the same as `null`, which forms have for it. The order of keys does not matter. */
export function isSame(a: unknown, b: unknown): boolean {
  const [first, second] = [a ?? null, b ?? null];
  if (typeof first !== "object" || typeof second !== "object") return first === second;
  if (first === null || second === null) return first === second;
  if (Array.isArray(first) !== Array.isArray(second)) return false;
  const [one, other] = [first as Values, second as Values];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .every((name) => isSame(one[name], other[name]));
}

/** Whether an input, or all inputs of an object, are empty. */
export function isBlank(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return (value ?? "") === "";
  return Object.entries(value).every(([name, each]) => name === "_id" || isBlank(each));
}

export function newBody(values: Values, fields: readonly Field[]): Values {
  return objectOf(values, { fields, before: undefined }) ?? {};
}

interface Edited {
  readonly fields: readonly Field[];
  readonly before: Values;
}

/** A field that nobody has edited keeps its stored value, also `null` in a list and an object without fields. */
export function wholeBody(values: Values, edited: Edited): Values {
  return objectOf(values, edited) ?? {};
}

/**
 * Fields without a value get `null`: React-hook-form would otherwise show the value of another list element after an
 * earlier one has been removed. Populated references become identifiers.
 */
export function formValues<V extends Values>(entity: V, fields: readonly Field[]): V {
  const values = fields.map((field) => [field.name, formValue(entity[field.name], field)] as const);
  return { ...entity, ...Object.fromEntries(values) };
}

function formValue(value: unknown, { type, fields, items }: Value): unknown {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value)) return items ? value.map((item) => formValue(item, items)) : value;
  if (type === "Embedded") return fields ? formValues(value as Values, fields) : value;
  return type === "Object" || type === "Map" ? value : (value as Values)._id ?? value;
}

export function newElement(fields: readonly Field[]): Values {
  return formValues(Object.fromEntries(fields.map((each) => [each.name, each.default])), fields);
}

/**
 * In Maps and objects of free form, only changed keys are sent, and a removed key as `null`: the server would otherwise
 * keep it.
 */
export function mergePatch(changes: Values, { fields, before }: Edited): Values {
  const patches = Object.entries(changes).map(([name, value]) => {
    const field = fields.find((each) => each.name === name);
    return [name, patchOf(value, { field, before: before[name] })] as const;
  });
  return Object.fromEntries(patches);
}

/** An update merges values of these types into the stored values. */
const MERGED: ReadonlySet<string> = new Set(["Embedded", "Object", "Map"]);

function patchOf(
  value: unknown,
  { field, before }: { readonly field: Value | undefined; readonly before: unknown },
): unknown {
  if (!isObject(value) || !isObject(before) || !field || !MERGED.has(field.type)) return value;
  if (field.fields !== undefined) return mergePatch(value, { fields: field.fields, before });
  const names = [...new Set([...Object.keys(before), ...Object.keys(value)])];
  const changed = names.filter((name) => !isSame(value[name], before[name]));
  return Object.fromEntries(
    changed.map((name) => [name, patchOf(value[name], { field, before: before[name] }) ?? null]),
  );
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function changedBody(values: Values, { fields, before }: Edited): Values {
  const body = objectOf(values, { fields, before }) ?? {};
  // The body of an embedded object lacks the fields that no body can set, such as its identifier.
  const stored = objectOf(before, { fields, before }) ?? {};
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !isSame(value, stored[name])),
  );
}

/**
 * Forms have `null` for empty inputs, so an empty field that is not stored is left out. An object with only such fields
 * is left out too.
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
  const isEmpty = entries.length === 0 && (before ?? undefined) === undefined;
  return isEmpty ? undefined : Object.fromEntries(entries);
}

function valueOf(
  value: unknown,
  { field, before }: { readonly field: Value; readonly before: unknown },
): unknown {
  const { type, fields, items, nullable } = field;
  if (value === null || value === undefined) return undefined;
  if (type === "Date") return instantOf(value);
  if (type === "Embedded" && fields !== undefined) {
    const body = objectOf(value as Values, { fields, before: before as Values | undefined });
    // An object with a field that cannot be cleared is cleared as a whole.
    const isCleared = nullable && isBlank(body) && !isBlank(before) &&
      fields.some((each) => !each.nullable);
    return isCleared ? undefined : body;
  }
  if (type !== "Array" || items === undefined || !Array.isArray(value)) return value;
  const sent = value.map((item) => {
    if (items.type !== "Embedded") return valueOf(item, { field: items, before: undefined });
    const body = valueOf(item, { field: items, before: storedElement(item, before) });
    // The identifier lets a stored element keep the values that the form does not have.
    const id = idOf(item);
    return id === undefined ? body : { _id: id, ...body as object };
  });
  // An empty form of a new object is no element, but `null` in a list is stored.
  return sent.filter((body, index) => body !== undefined || value[index] === null)
    .map((body) => body ?? null);
}

/** The stored element has the same identifier, or else the same values. */
function storedElement(item: unknown, list: unknown): unknown {
  const id = idOf(item);
  return Array.isArray(list)
    ? list.find((each) => id === undefined ? isSame(each, item) : idOf(each) === id)
    : undefined;
}

function idOf(item: unknown): unknown {
  return Object(item)._id ?? undefined;
}

/** A date of an input has no time zone, so the time zone of the reader applies. */
export function instantOf(value: unknown): unknown {
  // A day without a time has no time zone.
  if (/^\d{4}-\d\d-\d\d$/.test(String(value))) return value;
  const time = new Date(String(value)).getTime();
  return Number.isNaN(time) ? value : new Date(time).toISOString();
}
