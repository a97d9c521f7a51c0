import mongoose from "mongoose";
import type { Document, Schema, SchemaType } from "mongoose";
import { PROTOTYPE_KEYS } from "../../fields/json.ts";

interface ValueType {
  readonly $isSingleNested?: boolean;
  applySetters(value: unknown, doc: unknown, init: boolean, prior: unknown, o: object): unknown;
}

interface MapType {
  readonly "$__schemaType"?: ValueType;
  cast(value: unknown, doc: unknown, init?: boolean, prior?: unknown, options?: object): unknown;
}

/** A Map, with what Mongoose does not declare. */
interface InnerMap extends Map<string, unknown> {
  readonly "$__path"?: unknown;
  readonly "$__parent"?: Document | null;
}

const MongooseMapType = mongoose.Schema.Types.Map as unknown as new (
  ...args: readonly unknown[]
) => MapType;

/** A Map of embedded objects at the cost of its values: Mongoose's own looks through all changes with each key. */
class LinearMapType extends MongooseMapType {
  static readonly schemaName = "Map";

  override cast(
    value: unknown,
    doc: unknown,
    init?: boolean,
    prior?: unknown,
    options?: object,
  ): unknown {
    if (init && !isObject(value)) {
      const map = super.cast(value, doc, init, prior, options);
      if (map instanceof Map) strange.add(map);
      return map;
    }
    const { $__schemaType: type } = this;
    const entries = init || type?.$isSingleNested !== true ? undefined : entriesOf(value);
    if (type === undefined || entries === undefined) {
      return super.cast(value, doc, init, prior, options);
    }
    const map = super.cast({}, doc, init, prior, options) as InnerMap;
    const { $__path: path, $__parent: parent } = map;
    try {
      for (const [key, each] of entries) {
        const at = { path: `${path}.${key}` };
        // Otherwise the parent notes each path inside: it would validate what is inside once for every Map around it.
        if (parent?.isNew === false) parent.markModified(at.path);
        Map.prototype.set.call(map, key, type.applySetters(each, doc, false, undefined, at));
      }
    } catch {
      // Mongoose notes each value that cannot be cast.
      return super.cast(value, doc, init, prior, options);
    }
    return map;
  }
}

/** Maps that were read from something that is no object. */
const strange = new WeakSet<object>();

/** Whether a Map was read from a stored value that is no object. Its keys cannot be written one by one. */
export function isStrange(map: object): boolean {
  return strange.has(map);
}

function isObject(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return value instanceof Map || prototype === null || prototype === Object.prototype;
}

/** The entries of a value that becomes a Map; `undefined` where only Mongoose can tell what becomes of it. */
function entriesOf(value: unknown): [string, unknown][] | undefined {
  if (typeof value !== "object" || value === null || "$__path" in value) return undefined;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return entries.every(([key]) =>
      typeof key === "string" && !/^\$|\./.test(key) && !PROTOTYPE_KEYS.has(key)
    )
    ? entries
    : undefined;
}

/** Makes the Maps of a schema cost what their values cost. */
export function useLinearMaps(schema: Schema): void {
  schema.eachPath((_path: string, type: SchemaType) => {
    if (Object.getPrototypeOf(type) === MongooseMapType.prototype) {
      Object.setPrototypeOf(type, LinearMapType.prototype);
    }
  });
}

export function isLinearMapType(type: SchemaType): boolean {
  return type.constructor === LinearMapType;
}
