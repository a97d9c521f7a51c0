import type { default as Mongoose, mongo } from "mongoose";
import { type Field, fieldsOf, identifierOf, type InferOptions, typeText } from "./infer.ts";
import type { FoundModel } from "./model_text.ts";
import { type ModelNames, nameModels, singular } from "./names.ts";
import { declareIndex, type StoredIndex } from "./read_indexes.ts";
import { Seen } from "./seen.ts";

const SAMPLE = 1000;

/** A sample of more bytes is cut off. */
const SAMPLE_BYTES = 64 * 2 ** 20;

/** A sample of a view may take hours without a limit. */
const SAMPLE_MS = 60_000;

const DECODING = { promoteValues: false, validation: { utf8: false } } as const;

/** A field is no reference if a smaller share of its identifiers is found. */
const MIN_FOUND = 0.5;

export interface FoundDatabase {
  readonly name: string;
  readonly models: readonly FoundModel[];
  collectionOf(name: string): string | undefined;
}

export interface ReadDatabaseOptions {
  readonly known: ReadonlyMap<string, ModelNames>;
  /** Takes a remark, which has no values of the database. */
  note(text: string): void;
}

type Collection = mongo.CollectionInfo;

/** Reads samples of all collections, and writes nothing. */
export async function readDatabase(
  uri: string,
  options: ReadDatabaseOptions,
): Promise<FoundDatabase> {
  const { default: mongoose } = await import("mongoose");
  const client = await connect(uri, mongoose);
  try {
    const db = client.db();
    const reader = new DatabaseReader(db, {
      ...options,
      isReserved: reservedBy(mongoose),
      // If strings were validated, a malformed one would hide its whole collection.
      deserialize: (bytes) => mongoose.mongo.BSON.deserialize(bytes, DECODING),
    });
    const models = await reader.read();
    if (models.length === 0) {
      throw new Error(
        `Cannot make an application: no collection of the database "${db.databaseName}" has entities that a model can have`,
      );
    }
    return {
      name: db.databaseName,
      models,
      collectionOf: (name) => mongoose.pluralize()?.(name) ?? name,
    };
  } finally {
    await client.close();
  }
}

async function connect(uri: string, { mongo }: typeof Mongoose): Promise<mongo.MongoClient> {
  try {
    return await new mongo.MongoClient(uri, { serverSelectionTimeoutMS: 5000 }).connect();
  } catch (error) {
    // The error message can have the URI with its password.
    const { message } = error as Error;
    const shown = [uri, message].map(withoutPassword);
    throw new Error(`Cannot make an application: no MongoDB at ${shown[0]} (${shown[1]})`);
  }
}

/** Removes the values of all options of a URI too, because some are secrets. */
export function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^]*@/g, "//").replaceAll(/([?&]\w+=)[^&\s]*/g, "$1…");
}

/** Names that are refused by the schemas of the written models. */
export function reservedBy(mongoose: typeof Mongoose): (name: string) => boolean {
  const { reserved } = mongoose.Schema as unknown as { reserved: object };
  const names = new Set([
    ...[...Object.keys(reserved), "schema", "isNew", "errors", "db", "discriminators", "_doc"],
    ...["__proto__", "constructor", "prototype"],
  ]);
  return (name) => name !== "id" && (names.has(name) || name in mongoose.Model.prototype);
}

interface Sampled {
  readonly collection: string;
  readonly kind: string;
  readonly seen: Seen;
  readonly id: string;
  readonly fields: readonly Field[];
  readonly indexes: FoundModel["indexes"];
}

interface ReaderOptions extends ReadDatabaseOptions, Pick<InferOptions, "isReserved"> {
  /** Decodes BSON, and keeps the types of numbers. */
  deserialize(bytes: Uint8Array): object;
}

class DatabaseReader {
  readonly #db: mongo.Db;
  readonly #options: ReaderOptions;

  constructor(db: mongo.Db, options: ReaderOptions) {
    this.#db = db;
    this.#options = options;
  }

  async read(): Promise<FoundModel[]> {
    const { known, note } = this.#options;
    const listed = await this.#db.listCollections({}, { nameOnly: false }).toArray();
    const names = new Set(listed.map(({ name }) => name));
    const sampled: Sampled[] = [];
    for (const each of listed.sort((a, b) => a.name < b.name ? -1 : 1)) {
      const [, bucket] = /^(.+)\.(?:files|chunks)$/.exec(each.name) ?? [];
      const isFile = bucket !== undefined &&
        ["files", "chunks"].every((end) => names.has(`${bucket}.${end}`));
      if (isFile) note(`${each.name}: no model, because it belongs to the GridFS "${bucket}"`);
      const isOwn = /^(system\.|enxcol_\.|mongrove_)/.test(each.name);
      const isMember = each.name in Object.prototype;
      if (isMember) note(`${each.name}: no model, because objects have a member of the name`);
      const found = isFile || isOwn || isMember
        ? undefined
        : await this.#sample(each).catch((error) => {
          // The error message can have stored values.
          note(
            `${each.name}: no model, because it cannot be read (${error.codeName ?? error.name})`,
          );
          return undefined;
        });
      if (found !== undefined) sampled.push(found);
    }
    await this.#refer(sampled);
    const named = nameModels(sampled.map(({ collection }) => collection), known);
    return sampled.flatMap((each) => {
      const model = named.get(each.collection);
      return model === undefined ? [] : [modelOf(each, model)];
    });
  }

  async #sample({ name, type = "collection", options }: Collection): Promise<Sampled | undefined> {
    const { isReserved, note } = this.#options;
    const collection = this.#db.collection(name);
    const seen = new Seen();
    const settings = { raw: true, maxTimeMS: SAMPLE_MS, batchSize: 100 };
    let size = 0;
    for await (const each of collection.aggregate([{ $sample: { size: SAMPLE } }], settings)) {
      const bytes = each as Uint8Array;
      seen.add(this.#options.deserialize(bytes));
      if ((size += bytes.length) > SAMPLE_BYTES) break;
    }
    const id = identifierOf(seen);
    if (id === undefined) {
      const reason = seen.count === 0
        ? "it is empty"
        : "its _id has several types, or a type that no path can name";
      return void note(`${name}: no model, because ${reason}`);
    }
    const kind = options?.capped ? "capped" : type;
    note(`${name}: ${seen.count} entities read${kind === "collection" ? "" : ` (${kind})`}`);
    const fields = fieldsOf(seen, {
      isReserved,
      note: (path, text) => note(`${name}.${path}: ${text}`),
    });
    const indexes = kind === "view" || kind === "timeseries"
      ? []
      : await this.#indexes(name, options?.collation);
    return { collection: name, kind, seen, id, fields, indexes };
  }

  async #indexes(name: string, defaultCollation: unknown): Promise<FoundModel["indexes"]> {
    const stored = await this.#db.collection(name).indexes() as StoredIndex[];
    return stored.filter(({ key }) => Object.keys(key).join() !== "_id").flatMap((index) => {
      const declared = declareIndex(index, defaultCollation);
      if (typeof declared !== "string") return [declared];
      this.#options.note(`${name}: the index "${index.name}" is not declared: ${declared}`);
      return [];
    });
  }

  async #refer(sampled: readonly Sampled[]): Promise<void> {
    const found: Found[] = [];
    for (const { collection, fields } of sampled) {
      for (const [path, field] of scalarsIn(fields)) {
        const most = await this.#mostFound(field, sampled);
        if (most === undefined) continue;
        const isRef = most.count >= field.identifiers.length * MIN_FOUND;
        if (isRef) field.ref = most.target.collection;
        found.push({ ...most, collection, path, field, isRef });
      }
    }
    for (const { collection, path, field, target, count, isRef } of found) {
      // A reference that stores no ObjectIds needs the schema of its target first, so such references cannot form a
      // circle.
      const isCircle = isRef && target.id !== "ObjectId" &&
        reachedFrom(target.collection, found).has(collection);
      if (isCircle) delete field.ref;
      const end = isCircle
        ? "no reference, because it is circular"
        : isRef
        ? "a reference"
        : "no reference";
      const text =
        `${count} of ${field.identifiers.length} identifiers are in "${target.collection}"`;
      this.#options.note(`${collection}.${path}: ${text}: ${end}`);
    }
  }

  async #mostFound({ kind, identifiers, name }: Field, sampled: readonly Sampled[]) {
    let most: { readonly target: Sampled; readonly count: number } | undefined;
    for (const target of sampled) {
      const isStored = target.kind === "collection" || target.kind === "capped";
      const isNamed = stemOf(name.replace(/[_-]?ids?$/i, "")) === stemOf(target.collection);
      // Small numbers are identifiers in many collections, so only a similar name makes a reference likely.
      const isLikely = isNamed || kind === "ObjectId" || kind === "UUID";
      if (!isStored || target.id !== kind || !isLikely) continue;
      const filter = { _id: { $in: identifiers as never[] } };
      const count = await this.#db.collection(target.collection).countDocuments(filter);
      if (count > (most?.count ?? 0)) most = { target, count };
    }
    return most;
  }
}

interface Found {
  readonly collection: string;
  readonly path: string;
  readonly field: Field;
  readonly target: Sampled;
  readonly count: number;
  readonly isRef: boolean;
}

function reachedFrom(collection: string, found: readonly Found[]): ReadonlySet<string> {
  const reached = new Set([collection]);
  for (const each of reached) {
    for (const { isRef, collection: from, target } of found) {
      if (isRef && from === each) reached.add(target.collection);
    }
  }
  return reached;
}

function stemOf(name: string): string {
  return singular(name.replaceAll(/[^\p{L}\p{N}]/gu, "")).toLowerCase();
}

function* scalarsIn(fields: readonly Field[], prefix = ""): Generator<[string, Field]> {
  for (const field of fields) {
    const path = prefix + field.name;
    if (field.kind === "Class") yield* scalarsIn(field.fields ?? [], `${path}.`);
    else if (field.kind === "Map") yield* scalarsIn(field.of?.fields ?? [], `${path}.*.`);
    else if (field.identifiers.length > 0) yield [path, field];
  }
}

const TIMESTAMPS = ["createdAt", "updatedAt"];

function modelOf({ seen, ...sampled }: Sampled, names: ModelNames): FoundModel {
  const isDate = (name: string) =>
    sampled.fields.some((field) => field.name === name && field.kind === "Date" && !field.isList);
  const timestamps = seen.fields.has("__v") && TIMESTAMPS.every(isDate);
  const fields = sampled.fields.filter(({ name }) => !(timestamps && TIMESTAMPS.includes(name)));
  const sort = sampled.indexes.flatMap(({ keys }) => {
    const [first = ""] = Object.keys(keys);
    const field = fields.find(({ name }) => name === first);
    // In the parameter `sort`, a comma or a minus in a name would be syntax.
    const isSortable = field && /^\w+$/.test(first) && [1, -1].includes(keys[first] as number) &&
      !field.isList &&
      !field.hidden &&
      !["Class", "Map", "Object", "Buffer"].includes(field.kind);
    return isSortable ? [JSON.stringify(first)] : [];
  });
  const sorted = sort.length > 0 ? `, sort: [${[...new Set(sort)].join(", ")}]` : "";
  const operations = [
    `all({ page: { max: 100 }, count: true${sorted} })`,
    "one()",
    ...WRITES[sampled.kind] ?? [],
  ];
  return { ...sampled, ...names, fields, timestamps, operations };
}

/** The writes that MongoDB accepts, by the kind of collection. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  collection: ["create()", "update()", "remove()"],
  capped: ["create()"],
};

/** Describes a model by lines, which a later run compares. */
export function linesOf(model: FoundModel): Record<string, string> {
  const lines: Record<string, string> = { _id: model.id };
  const describe = (fields: readonly Field[], prefix: string): void => {
    for (const field of fields) {
      const path = prefix + field.name;
      lines[path] = [
        typeText(field),
        ...field.ref === undefined ? [] : [`reference to ${field.ref}`],
        ...field.required ? ["required"] : [],
        ...field.hidden ? ["hidden"] : [],
      ].join(", ");
      describe(field.fields ?? [], `${path}.`);
      describe(field.of?.fields ?? [], `${path}.*.`);
    }
  };
  describe(model.fields, "");
  if (model.timestamps) lines.timestamps = "createdAt, updatedAt";
  for (const { keys, options } of model.indexes) {
    lines[`index ${JSON.stringify(keys)}`] = JSON.stringify(options);
  }
  lines.operations = model.operations.join(", ");
  return lines;
}
