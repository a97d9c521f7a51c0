import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import mongoose from "mongoose";
import type { Batch } from "../../../database/read_batches.ts";
import { documentsIn, identifierIn } from "../../../json/transcode/documents.ts";
import { everyFilter, isEmpty } from "../../../filter/filters.ts";
import type { JsonQuery, JsonReader } from "./json_reader.ts";
import { decodeBson } from "./stored_writer.ts";
import type { Stored } from "./stored_writer.ts";

/** The most entities that one query reads. */
const MOST = 64;

/** Entities that one query is going to read. */
interface Gathering {
  /** The identifiers, by their text. */
  readonly ids: Map<string, mongoose.Types.ObjectId>;
  /** Those that were found, by the same. */
  readonly found: Promise<ReadonlyMap<string, Stored>>;
}

/** The reads of a model. */
interface Reads {
  /** What waits for the end of the turn, by what its queries have in common. */
  readonly waiting: Map<string, Gathering>;
  /** How many queries are under way. */
  running: number;
  /** Whether the last query was for one entity. */
  alone: boolean;
}

const readsOf = new WeakMap<JsonReader, Reads>();

/** Whether reads by a query can be told apart: documents that do not show who they are cannot. */
export function isShareable({ projection }: JsonQuery): boolean {
  return projection._id === undefined || Boolean(projection._id);
}

/**
 * Reads the entity with an identifier as JSON text; `null` if a query selects none of that name. What is asked for in one
 * turn, by queries that are the same to the last byte otherwise, the database reads at once. Where reads come one by one,
 * they wait for nothing.
 *
 * The wait is bounded by whoever asks.
 */
export async function readShared(
  reader: JsonReader,
  id: mongoose.Types.ObjectId,
  query: JsonQuery,
): Promise<Buffer | null> {
  let reads = readsOf.get(reader);
  if (reads === undefined) {
    readsOf.set(reader, reads = { waiting: new Map(), running: 0, alone: true });
  }
  const name = id.toHexString();
  const stored = reads.running === 0 && reads.alone
    ? (await run(reads, reader, [id], query)).get(name)
    : await gathered(gather(reads, reader, query), name, id);
  // Each is written for itself: what cannot be written is the matter of whoever asked for it.
  return stored === undefined ? null : reader.writerFor(query).text(stored);
}

/** Gives the gathering of a query, a new one where there is none or it is full. */
function gather(reads: Reads, reader: JsonReader, query: JsonQuery): Gathering {
  const { waiting } = reads;
  const sent = bytesOf(query);
  const open = waiting.get(sent);
  if (open !== undefined && open.ids.size < MOST) return open;
  const ids: Gathering["ids"] = new Map();
  const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    if (waiting.get(sent) === gathering) waiting.delete(sent);
    return run(reads, reader, [...ids.values()], query);
  });
  const gathering = { ids, found };
  waiting.set(sent, gathering);
  return gathering;
}

async function gathered(
  { ids, found }: Gathering,
  name: string,
  id: mongoose.Types.ObjectId,
): Promise<Stored | undefined> {
  ids.set(name, id);
  return (await found).get(name);
}

async function run(
  reads: Reads,
  reader: JsonReader,
  ids: readonly mongoose.Types.ObjectId[],
  query: JsonQuery,
): Promise<ReadonlyMap<string, Stored>> {
  reads.alone = ids.length === 1;
  reads.running++;
  try {
    return await readAll(reader, ids, query);
  } finally {
    reads.running--;
  }
}

/** A query as the database would get it, to the order of its keys: that counts in what it compares and sorts by. */
function bytesOf(query: JsonQuery): string {
  const { conditions, projection, options } = query;
  const simple = isEmpty(conditions) && isEmpty(projection) &&
    Object.values(options).every((value) =>
      typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
    );
  if (simple) return JSON.stringify(options);
  const bytes = mongoose.mongo.BSON.serialize(query, { serializeFunctions: true });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

async function readAll(
  reader: JsonReader,
  ids: readonly mongoose.Types.ObjectId[],
  query: JsonQuery,
): Promise<ReadonlyMap<string, Stored>> {
  const name = { _id: ids.length === 1 ? ids[0] : { $in: ids } };
  const conditions = everyFilter(name, query.conditions);
  const found = new Map<string, Stored>();
  for await (const batch of reader.batches({ ...query, conditions })) {
    for (const each of storedIn(batch)) found.set(nameOf(each), each);
  }
  return found;
}

function storedIn(batch: Batch): readonly Stored[] {
  return "values" in batch ? batch.values : documentsIn(batch.array, batch.start);
}

function nameOf(stored: Stored): string {
  if (!(stored instanceof Buffer)) return String((stored as { _id: unknown })._id);
  return identifierIn(stored) ?? nameOf(decodeBson(stored));
}
