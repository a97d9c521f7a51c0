/**
 * Says how a router of a sharded cluster (`mongos`) treats a command, by the rules in MongoDB's manual. No sharded
 * cluster runs here, so tests judge the commands that they have recorded.
 *
 * The pages of the manual are named by their paths below `https://www.mongodb.com/docs/v8.0/`.
 *
 * @module
 */

/** The fields of a shard key in their order. */
export type ShardKey = Readonly<Record<string, 1 | "hashed">>;

/** The versions of MongoDB whose rules differ or are asked for. */
export const VERSIONS = ["6.0", "7.0", "8.0", "9.0"] as const;

export type Version = typeof VERSIONS[number];

/**
 * Which shards get a command: one shard; only the shards that have the named values or the chunks of a part of the shard
 * key; all shards; or none, because the router refuses the command. The order is from good to bad.
 */
export const TARGETS = ["one", "several", "all", "refused"] as const;

export type Target = typeof TARGETS[number];

export interface Judgement {
  readonly target: Target;
  /** The rule that refuses a command. */
  readonly why?: string;
}

export type Command = Readonly<Record<string, unknown>>;

export interface JudgeOptions {
  readonly key: ShardKey;
  readonly version: Version;
  /** Whether the collection exists when the command is sent. */
  readonly exists?: boolean;
}

const [ONE, SEVERAL, ALL] = (["one", "several", "all"] as const).map((target) => ({ target })) as [
  Judgement,
  Judgement,
  Judgement,
];

function refused(why: string): Judgement {
  return { target: "refused", why };
}

/**
 * Whether a write of one document needs neither the shard key nor `_id`.
 *
 * core/sharded-cluster-requirements and reference/command/findAndModify#sharded-collections: "Starting in version 7.1,
 * you do not need to provide the shard key or _id field in the query specification." release-notes/7.1: "when using
 * updateOne() with upsert: true on a sharded collection, you do not need to include the full shard key in the filter."
 */
function needsNoKey(version: Version): boolean {
  return version !== "6.0" && version !== "7.0";
}

/**
 * Judges a command on a sharded collection. Returns `undefined` for a command that names no collection or goes wherever
 * an earlier command went, such as `getMore` and `commitTransaction`.
 */
export function judgeCommand(command: Command, options: JudgeOptions): Judgement | undefined {
  const name = Object.keys(command)[0] ?? "";
  const rule = RULES[name];
  if (rule === undefined || typeof command[name] !== "string") return undefined;
  if (isInTransaction(command)) {
    const why = transactionRefuses(name, command, options);
    if (why !== undefined) return refused(why);
  }
  return rule(command, options);
}

type Rule = (command: Command, options: JudgeOptions) => Judgement;

const RULES: Readonly<Record<string, Rule>> = {
  find: ({ filter, collation }, { key }) => targetOf(filter, { key, collation }),
  count: ({ query, collation }, { key }) => targetOf(query, { key, collation }),
  distinct: ({ query, collation }, { key }) => targetOf(query, { key, collation }),
  aggregate: judgeAggregate,
  insert: judgeInsert,
  update: ({ updates }, options) =>
    worst((updates as Update[]).map((each) => judgeUpdate(each, options))),
  delete: ({ deletes }, options) =>
    worst((deletes as Removal[]).map((each) => judgeRemoval(each, options))),
  findAndModify: judgeFindAndModify,
  createIndexes: judgeIndexes,
};

/** Returns the worst of some judgements. */
export function worst(judgements: readonly Judgement[]): Judgement {
  return judgements.reduce(
    (a, b) => TARGETS.indexOf(b.target) > TARGETS.indexOf(a.target) ? b : a,
    ONE,
  );
}

interface FilterOptions {
  readonly key: ShardKey;
  readonly collation?: unknown;
}

/**
 * Returns the shards that a filter selects.
 *
 * core/sharded-cluster-query-router#targeted-operations: "mongos can route queries that include the shard key or the
 * prefix of a compound shard key a specific shard or set of shards." Without them, the query is broadcast.
 */
function targetOf(filter: unknown, { key, collation }: FilterOptions): Judgement {
  const { equal, listed } = boundBy(filter, collation);
  const names = Object.keys(key);
  if (names.every((name) => equal.has(name))) return ONE;
  const [first] = names as [string];
  return equal.has(first) || listed.has(first) ? SEVERAL : ALL;
}

interface Bound {
  /** The fields that a filter compares by equality, with the texts of their values. */
  readonly equal: Map<string, string>;
  /** The fields that a filter compares with a list of values. */
  readonly listed: Set<string>;
}

/**
 * Returns the fields that a filter binds at its top or below `$and`. `{ key: value }` and `{ key: { $eq: value } }` are
 * equality conditions (core/sharded-cluster-requirements).
 *
 * A text that is compared by another collation than the simple one selects no shard, because equal texts can be on
 * several shards. The manual does not say so; src/mongo/s/chunk_manager.cpp of the server does ("Cannot target single
 * shard due to collation of key").
 */
function boundBy(filter: unknown, collation?: unknown): Bound {
  const bound: Bound = { equal: new Map(), listed: new Set() };
  const { locale = "simple" } = Object(collation) as { readonly locale?: string };
  const isTargetable = (value: unknown) => locale === "simple" || typeof value !== "string";
  for (const [name, condition] of Object.entries(Object(filter) as Command)) {
    if (name === "$and") {
      for (const each of condition as unknown[]) {
        const { equal, listed } = boundBy(each, collation);
        for (const [field, value] of equal) bound.equal.set(field, value);
        for (const field of listed) bound.listed.add(field);
      }
    } else if (!name.startsWith("$")) {
      const { $in, ...operators } = operatorsOf(condition);
      if (Object.hasOwn(operators, "$eq") && isTargetable(operators.$eq)) {
        bound.equal.set(name, String(operators.$eq));
      }
      if (Array.isArray($in) && $in.every(isTargetable)) bound.listed.add(name);
    }
  }
  return bound;
}

function operatorsOf(condition: unknown): Record<string, unknown> {
  if (condition instanceof RegExp) return {};
  const isPlain = typeof condition === "object" && condition !== null &&
    Object.keys(condition).some((name) => name.startsWith("$"));
  return isPlain ? condition as Record<string, unknown> : { $eq: condition };
}

/** Whether a filter compares all fields of the shard key by equality. */
function hasFullKey(filter: unknown, options: FilterOptions): boolean {
  return targetOf(filter, options) === ONE;
}

/**
 * Judges an aggregation by its first condition, and by the collections that it joins.
 *
 * core/sharded-cluster-query-router: the `$match` at the start selects the shards. core/sharded-cluster-requirements:
 * "In MongoDB 5.0 and earlier, you cannot specify sharded collections in the from parameter of $lookup stages", and so
 * since 5.1 reference/operator/aggregation/lookup and /graphLookup. changeStreams#open-a-change-stream: a change stream
 * reads the changes of all shards.
 */
function judgeAggregate({ aggregate, pipeline, collation }: Command, options: JudgeOptions) {
  const stages = pipeline as Command[];
  if (Object.hasOwn(stages[0] ?? {}, "$changeStream")) return ALL;
  const end = stages.findIndex((stage) => stage.$match === undefined);
  const first = end === -1 ? stages : stages.slice(0, end);
  const near = Object(stages[0]?.$geoNear) as { readonly query?: unknown };
  const conditions = [...first.map(({ $match }) => $match), near.query];
  const own = targetOf({ $and: conditions }, { ...options, collation });
  const joined = stages.flatMap((stage): Judgement[] => {
    if (stage.$lookup !== undefined || stage.$graphLookup !== undefined) return [ALL];
    if (stage.$unionWith === undefined) return [];
    const { coll, pipeline = [] } = Object(stage.$unionWith) as {
      readonly coll?: unknown;
      readonly pipeline?: Command[];
    };
    return [coll === aggregate ? judgeAggregate({ aggregate, pipeline, collation }, options) : ALL];
  });
  return worst([own, ...joined]);
}

/**
 * core/sharded-cluster-query-router: "All insertOne() operations target to one shard. Each document in the insertMany()
 * array targets to a single shard, but there is no guarantee all documents in the array insert into a single shard."
 */
function judgeInsert({ documents }: Command, { key }: JudgeOptions): Judgement {
  const keyOf = (each: Command) =>
    JSON.stringify(Object.keys(key).map((name) => String(each[name])));
  return new Set((documents as Command[]).map(keyOf)).size > 1 ? SEVERAL : ONE;
}

interface Update {
  readonly q: Command;
  readonly u: unknown;
  readonly multi?: boolean;
  readonly upsert?: boolean;
  readonly collation?: unknown;
}

/**
 * core/sharded-cluster-query-router: updateMany() and deleteMany() "are broadcast operations, unless the query document
 * specifies the shard key in full". reference/command/update#sharded-collections, for 6.0 and 7.0: an update with
 * `multi: false` needs the shard key or an exact match on `_id`, with `upsert: true` the full shard key.
 */
function judgeUpdate({ q, u, multi, upsert, collation }: Update, options: JudgeOptions): Judgement {
  const given = { ...options, collation };
  const isFull = hasFullKey(q, given);
  const moved = movesKey({ q, u }, options);
  if (moved !== undefined && (multi === true || !isFull)) {
    return refused(`an update of "${moved}" of the shard key without the full shard key`);
  }
  if (multi === true) return isFull ? ONE : ALL;
  if (upsert === true && !isFull && !needsNoKey(options.version)) {
    return refused("an upsert without the full shard key");
  }
  return judgeSingle(q, { ...given, what: "an update" });
}

interface Removal {
  readonly q: Command;
  readonly limit: number;
  readonly collation?: unknown;
}

/** The rules of `deleteMany()` and `deleteOne()` are those of updates: see `judgeUpdate`. */
function judgeRemoval({ q, limit, collation }: Removal, options: JudgeOptions): Judgement {
  const given = { ...options, collation };
  if (limit === 0) return hasFullKey(q, given) ? ONE : ALL;
  return judgeSingle(q, { ...given, what: "a removal" });
}

/**
 * Judges an update or a removal of one document.
 *
 * core/sharded-cluster-requirements#single-document-modification-operations: "If you only target one shard, you can use
 * a partial shard key in the query specification or, you can provide the shard key or the _id field". A part of the key
 * is not enough here, because its chunks can be on several shards.
 */
function judgeSingle(
  q: unknown,
  options: JudgeOptions & FilterOptions & { readonly what: string },
): Judgement {
  if (hasFullKey(q, options)) return ONE;
  if (boundBy(q, options.collation).equal.has("_id") || needsNoKey(options.version)) return ALL;
  return refused(`${options.what} of one document without the full shard key or "_id"`);
}

/**
 * core/sharded-cluster-requirements: "To use findOneAndUpdate() with a sharded collection, your query filter must
 * include an equality condition on the shard key". `_id` is not enough.
 */
function judgeFindAndModify(
  { query, update, collation }: Command,
  options: JudgeOptions,
): Judgement {
  const moved = movesKey({ q: query, u: update }, options);
  const isFull = hasFullKey(query, { ...options, collation });
  if (isFull) return ONE;
  if (moved !== undefined) {
    return refused(`an update of "${moved}" of the shard key without the full shard key`);
  }
  return needsNoKey(options.version) ? ALL : refused("findAndModify without the full shard key");
}

/**
 * Returns the field of the shard key that an update sets to another value.
 *
 * core/sharding-change-shard-key-value: such an update must have `multi: false`, run in a transaction or as a retryable
 * write, and "must include an equality condition on the full shard key in the query filter".
 */
function movesKey(
  { q, u }: { readonly q: unknown; readonly u: unknown },
  { key }: JudgeOptions,
): string | undefined {
  const { equal } = boundBy(q);
  const stages = (Array.isArray(u) ? u : [u]) as Command[];
  const set = Object.assign({}, ...stages.map((stage) => Object(stage?.$set))) as Command;
  return Object.keys(key).find((name) =>
    Object.hasOwn(set, name) && equal.get(name) !== String(literalOf(set[name]))
  );
}

function literalOf(value: unknown): unknown {
  const { $literal = value } = Object(value) as { readonly $literal?: unknown };
  return $literal;
}

interface Index {
  readonly key: Readonly<Record<string, unknown>>;
  readonly unique?: boolean;
}

/**
 * core/sharding-shard-key-indexes#unique-indexes: "For a ranged sharded collection, only the following indexes can be
 * unique: the index on the shard key, a compound index where the shard key is a prefix, the default _id index".
 * core/sharding-shard-key#unique-indexes: "You cannot specify a unique constraint on a hashed index."
 */
export function refusesIndex({ key, unique }: Index, shardKey: ShardKey): boolean {
  if (!unique || Object.keys(key).join() === "_id") return false;
  const shardFields = Object.entries(shardKey);
  const fields = Object.keys(key);
  return !shardFields.every(([name, kind], index) => kind === 1 && fields[index] === name);
}

/** tutorial/create-unique-index-on-sharded-collection: "MongoDB returns an error when you run the createIndexes command." */
function judgeIndexes({ indexes }: Command, { key }: JudgeOptions): Judgement {
  const index = (indexes as Index[]).find((each) => refusesIndex(each, key));
  if (index === undefined) return ALL;
  return refused(`the unique index on ${Object.keys(index.key).join(", ")}`);
}

export function isInTransaction({ autocommit }: Command): boolean {
  return autocommit === false;
}

/**
 * Returns why a transaction refuses a command.
 *
 * core/transactions-operations: "distinct" is "available on unsharded collections"; `count` is replaced by an
 * aggregation; `$unionWith`, `$merge` and `$out` are excluded. reference/operator/aggregation/lookup: "Starting in MongoDB
 * 8.0, you can use the $lookup stage within a transaction while targeting a sharded collection." core/transactions: "You
 * cannot use the $graphLookup stage within a transaction while targeting a sharded collection", and "You cannot create new
 * collections in cross-shard write transactions."
 */
function transactionRefuses(
  name: string,
  command: Command,
  { version, exists = true }: JudgeOptions,
): string | undefined {
  if (name === "distinct" || name === "count") return `"${name}" in a transaction`;
  if (name === "createIndexes") return "an index of an existing collection in a transaction";
  const stages = (name === "aggregate" ? command.pipeline : []) as Command[];
  const excluded = ["$unionWith", "$merge", "$out", "$graphLookup", "$changeStream"];
  if (!needsNoKey(version)) excluded.push("$lookup");
  const stage = stages.flatMap((each) => Object.keys(each)).find((each) => excluded.includes(each));
  if (stage !== undefined) return `"${stage}" in a transaction`;
  return !exists && creates(name, command) ? "a transaction that creates a collection" : undefined;
}

/** Whether a command creates its collection if it does not exist (core/transactions-operations#implicit-create). */
export function creates(name: string, command: Command): boolean {
  const updates = (name === "update" ? command.updates : []) as Update[];
  return name === "insert" || name === "create" || name === "createIndexes" ||
    command.upsert === true || updates.some(({ upsert }) => upsert === true);
}
