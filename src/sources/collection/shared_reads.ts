import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import mongoose from "mongoose";
import { documentsIn, identifierIn } from "../../json/bytes/bson_reader.ts";
import { everyFilter, isEmpty } from "../../filter/filters.ts";
import { sharedSession } from "../../schema/mongoose/statements/transaction_around.ts";
import type { BsonReads, StoredQuery } from "./bson_reads.ts";
import { decodeBson } from "./bson_to_json.ts";

const MAX_SHARED = 64;

type ObjectId = mongoose.Types.ObjectId;

type Found = ReadonlyMap<string, Buffer>;

interface Gathering {
  readonly ids: ObjectId[];
  readonly found: Promise<Found>;
}

/** Requests in one turn of the event loop share a query if only their identifiers differ. */
export class SharedReads {
  readonly #reader: BsonReads;
  readonly #waiting = new Map<string, Gathering>();
  #running = 0;
  #wasAlone = true;

  constructor(reader: BsonReads) {
    this.#reader = reader;
  }

  async find(id: ObjectId, query: StoredQuery): Promise<Buffer | undefined> {
    // A transaction sees other data than the reads of other requests.
    const isAlone = sharedSession() !== undefined || this.#running === 0 && this.#wasAlone;
    const found = isAlone ? this.#run([id], query) : this.#gather(id, query);
    return (await found).get(id.toHexString());
  }

  #gather(id: ObjectId, query: StoredQuery): Promise<Found> {
    const name = nameOf(query);
    const open = this.#waiting.get(name);
    if (open !== undefined && open.ids.length < MAX_SHARED) {
      open.ids.push(id);
      return open.found;
    }
    const ids = [id];
    const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      if (this.#waiting.get(name)?.ids === ids) this.#waiting.delete(name);
      return this.#run(ids, query);
    });
    this.#waiting.set(name, { ids, found });
    return found;
  }

  async #run(ids: readonly ObjectId[], query: StoredQuery): Promise<Found> {
    this.#wasAlone = ids.length === 1;
    this.#running++;
    try {
      const name = { _id: ids.length === 1 ? ids[0] : { $in: ids } };
      const conditions = everyFilter(name, query.conditions);
      const found = new Map<string, Buffer>();
      for await (const batch of this.#reader.batches({ ...query, conditions })) {
        for (const each of documentsIn(batch)) found.set(idOf(each), each);
      }
      return found;
    } finally {
      this.#running--;
    }
  }
}

/**
 * Requests with equal names share a query, so other conditions or fields must give another name. JSON is cheaper for
 * simple queries.
 */
function nameOf(query: StoredQuery): string {
  const { conditions, projection, options } = query;
  const isSimple = isEmpty(conditions) && isEmpty(projection) &&
    Object.values(options).every((value) =>
      typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
    );
  if (isSimple) return JSON.stringify(options);
  const bytes = mongoose.mongo.BSON.serialize(query, { serializeFunctions: true });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function idOf(stored: Buffer): string {
  return identifierIn(stored) ?? String((decodeBson(stored) as { _id: unknown })._id);
}
