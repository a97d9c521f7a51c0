import type { IndexDefinition, IndexOptions, Schema } from "mongoose";

/** An index as `schema.indexes()` of Mongoose returns it, with its keys and its options. */
export type SchemaIndex = [keys: IndexDefinition, options: IndexOptions];

/** A function that changes an index of a schema for a class option, such as by a condition for unique indexes. */
export type IndexChange = (index: SchemaIndex) => SchemaIndex;

interface ChangedIndexes {
  readonly changes: readonly IndexChange[];
  /**
   * Returns the indexes as the class has declared them, without the changes of class options, such as an added field
   * for the tenant.
   */
  readonly declared: () => SchemaIndex[];
  /**
   * The keys of the indexes of kinds (discriminators), as their classes declare them. Error messages about duplicates
   * name these keys. The key of the map is the JSON text of the keys in the database, to which class options may have
   * added a field.
   */
  readonly ofKinds: Map<string, IndexDefinition>;
}

const changed = new WeakMap<Schema, ChangedIndexes>();

/**
 * Applies a function to all indexes of a schema, also to the indexes of fields and of embedded objects, for a class
 * option such as `tenants`. An embedded class shares its schema with other classes, so its own indexes must stay
 * unchanged. Mongoose reads all indexes by `schema.indexes()`, so this method is replaced.
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

/**
 * Returns the indexes of a schema as the class has declared them, without the changes of class options, such as an
 * added field for the tenant. For example, `replace()` needs a unique index that is declared for one field alone.
 */
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

/**
 * Returns a map from the keys of each index in the database, as JSON text, to the keys that the class has declared.
 * Error messages about duplicates name only the declared keys.
 */
function keysByText(schema: Schema): Map<string, IndexDefinition> {
  const declared = changed.get(schema)?.declared() ?? [];
  const stored = schema.indexes();
  return new Map(declared.map(([keys], index) => [JSON.stringify(stored[index]?.[0]), keys]));
}

/**
 * Applies the index changes of a class, such as a field for the tenant, to the indexes of one of its kinds
 * (discriminators). The schema of a kind has separate indexes, which the changes of the class do not reach.
 */
export function changeAsBase(base: Schema, kind: Schema): void {
  const ofBase = changed.get(base);
  if (base === kind || ofBase === undefined) return;
  for (const change of ofBase.changes) changeIndexes(kind, change);
  // Error messages about duplicates need the declared keys of the indexes of kinds (discriminators). Each connection
  // has separate schemas of kinds, so the keys are copied to the schema of the class.
  for (const [text, keys] of keysByText(kind)) ofBase.ofKinds.set(text, keys);
}
