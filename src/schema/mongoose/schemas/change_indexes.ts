import type { IndexDefinition, IndexOptions, Schema } from "mongoose";

export type SchemaIndex = [keys: IndexDefinition, options: IndexOptions];

export type IndexChange = (index: SchemaIndex) => SchemaIndex;

interface ChangedIndexes {
  readonly changes: readonly IndexChange[];
  readonly declared: () => SchemaIndex[];
  /**
   * The declared keys of discriminators' indexes, by the JSON of the keys in MongoDB, to which class options add
   * fields.
   */
  readonly ofKinds: Map<string, IndexDefinition>;
}

const changed = new WeakMap<Schema, ChangedIndexes>();

/** Models share embedded schemas, so only `schema.indexes()` of the outer schema is replaced. */
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

export function declaredIndexes(schema: Schema): SchemaIndex[] {
  return changed.get(schema)?.declared() ?? schema.indexes() as unknown as SchemaIndex[];
}

/**
 * A class option may add a key to a sparse index, which would then contain entities with only this key. So a partial
 * filter replaces `sparse`.
 */
export function partialOptions([keys, options]: SchemaIndex): IndexOptions {
  const { sparse, ...others } = options;
  if (!sparse) return options;
  const exists = Object.keys(keys).map((name) => ({ [name]: { $exists: true } }));
  const [first = {}] = exists;
  const filled = exists.length === 1 ? first : { $or: exists };
  return { ...others, partialFilterExpression: { ...others.partialFilterExpression, ...filled } };
}

/** `keys` are keys in MongoDB, to which class options may have added a field. */
export function declaredKeys(schema: Schema, keys: object): IndexDefinition | undefined {
  const text = JSON.stringify(keys);
  return keysByText(schema).get(text) ?? changed.get(schema)?.ofKinds.get(text);
}

function keysByText(schema: Schema): Map<string, IndexDefinition> {
  const declared = changed.get(schema)?.declared() ?? [];
  const stored = schema.indexes();
  return new Map(declared.map(([keys], index) => [JSON.stringify(stored[index]?.[0]), keys]));
}

export function changeAsBase(base: Schema, kind: Schema): void {
  const ofBase = changed.get(base);
  if (base === kind || ofBase === undefined) return;
  for (const change of ofBase.changes) changeIndexes(kind, change);
  // An error of MongoDB names stored keys, which are looked up in the base schema, also for indexes of discriminators.
  for (const [text, keys] of keysByText(kind)) ofBase.ofKinds.set(text, keys);
}
