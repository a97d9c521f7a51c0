import type { IndexDefinition, IndexOptions, Schema } from "mongoose";

/** An index of a schema, as Mongoose returns it. */
export type SchemaIndex = [keys: IndexDefinition, options: IndexOptions];

/** A function that changes the indexes of a schema, such as the condition of unique indexes. */
export type IndexChange = (index: SchemaIndex) => SchemaIndex;

interface ChangedIndexes {
  readonly changes: readonly IndexChange[];
  /** Returns the indexes as the class has declared them, without the changes of class options. */
  readonly declared: () => SchemaIndex[];
  /**
   * The keys of the indexes of kinds (discriminators), as their classes declare them. The key of the map is the JSON
   * text of the keys in the database, to which class options may have added a field.
   */
  readonly ofKinds: Map<string, IndexDefinition>;
}

const changed = new WeakMap<Schema, ChangedIndexes>();

/**
 * Changes all indexes of a schema, also the indexes of fields and of embedded objects. An embedded class shares its
 * schema with other classes, so its own indexes must stay unchanged. Mongoose reads all indexes by `schema.indexes()`,
 * so this method is replaced.
 */
export function changeIndexes(schema: Schema, change: IndexChange): void {
  const read = schema.indexes;
  const { changes, declared, ofKinds } = changed.get(schema) ?? {
    changes: [],
    declared: () => Reflect.apply(read, schema, []) as unknown as SchemaIndex[],
    ofKinds: new Map<string, IndexDefinition>(),
  };
  const all = [...changes, change];
  changed.set(schema, { changes: all, declared, ofKinds });
  schema.indexes = () =>
    declared().map((index) => all.reduce((each, apply) => apply(each), index)) as never;
}

/** Returns the indexes of a schema as the class has declared them, without the changes of class options. */
export function declaredIndexes(schema: Schema): SchemaIndex[] {
  return changed.get(schema)?.declared() ?? schema.indexes() as unknown as SchemaIndex[];
}

/**
 * Returns the options of an index with a partial filter in the place of `sparse`. MongoDB has no index that is partial
 * and sparse, and a sparse index with a further key would also contain entities that have only this key.
 */
export function partialOptions([keys, options]: SchemaIndex): IndexOptions {
  const { sparse, ...others } = options;
  if (!sparse) return options;
  const present = Object.keys(keys).map((name) => ({ [name]: { $exists: true } }));
  const [first = {}] = present;
  const filled = present.length === 1 ? first : { $or: present };
  return { ...others, partialFilterExpression: { ...others.partialFilterExpression, ...filled } };
}

/**
 * Returns the keys of an index as a class or one of its kinds (discriminators) has declared them. The argument `keys`
 * has the keys in the database, to which class options may have added a field, such as the tenant.
 */
export function declaredKeys(schema: Schema, keys: object): IndexDefinition | undefined {
  const text = JSON.stringify(keys);
  return keysByText(schema).get(text) ?? changed.get(schema)?.ofKinds.get(text);
}

/** Returns the keys of the indexes as a class has declared them, by the JSON text of the keys in the database. */
function keysByText(schema: Schema): Map<string, IndexDefinition> {
  const declared = changed.get(schema)?.declared() ?? [];
  const stored = schema.indexes();
  return new Map(declared.map(([keys], index) => [JSON.stringify(stored[index]?.[0]), keys]));
}

/** Applies the changes of the indexes of a class to the indexes of one of its kinds (discriminators). */
export function changeAsBase(base: Schema, kind: Schema): void {
  const ofBase = changed.get(base);
  if (base === kind || ofBase === undefined) return;
  for (const change of ofBase.changes) changeIndexes(kind, change);
  // Each connection has separate schemas of kinds, so the keys are stored and not the schemas.
  for (const [text, keys] of keysByText(kind)) ofBase.ofKinds.set(text, keys);
}
