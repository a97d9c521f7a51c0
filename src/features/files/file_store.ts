import mongoose from "mongoose";
import type { Connection, mongo } from "mongoose";
import { StatementTurns } from "../../store/statement_turns.ts";
import { MAX_TIME_MS, type TimeBudget } from "../../store/time_budget.ts";
import { StoreFailure } from "../../errors/failure.ts";
import { noteBuild } from "../../schema/build_waits.ts";
import { memoize } from "../../schema/memoize.ts";
import type { ByteRange } from "./range.ts";

type ObjectId = mongo.ObjectId;

const BUCKET = "mongrove_files";

/** The default of GridFS. Reads find stored chunks by this size, so it must not change. */
export const CHUNK_BYTES = 255 * 1024;

/** An unfinished upload may be removed after this time. */
const UPLOAD_MS = 60 * 60_000;

export const CHECK_MS = 20 * 60 * 60_000;

export interface FileRecord {
  readonly _id: ObjectId;
  readonly length: number;
  readonly chunkSize: number;
  readonly uploadDate: Date;
  readonly filename: string;
  readonly metadata: FileMetadata;
}

interface FileMetadata {
  readonly type: string;
  readonly sha256?: string;
  readonly collection: string;
  readonly entity: unknown;
  readonly checkAt: Date;
  /** Set when the entity first refers to the file. Until then, the upload may be running, so removals skip the file. */
  readonly isConfirmed?: true;
  /** The file is being removed, so a running upload fails when it next updates this record. */
  readonly isRemoved?: true;
}

const FILE_OF_CHUNK = "files_id";

interface Chunk {
  readonly _id: ObjectId;
  readonly [FILE_OF_CHUNK]: ObjectId;
  readonly n: number;
  readonly data: Uint8Array;
}

export type NewFile =
  & Pick<FileMetadata, "collection" | "entity" | "type">
  & Pick<FileRecord, "_id" | "filename">;

/** Overrides a connection that returns objects for numbers, or loses acknowledged writes after a failover. */
const SETTINGS = {
  promoteValues: true,
  promoteLongs: true,
  useBigInt64: false,
  raw: false,
  readPreference: "primary",
  readConcern: { level: "local" },
  writeConcern: { w: "majority" },
} as const;

const NOT_REMOVED = { "metadata.isRemoved": { $exists: false } };

export class FileStore {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get records(): mongo.Collection<FileRecord> {
    // A UUID that became a Buffer would name no entity, and its file would look like one without an entity.
    return this.#collection("files", { promoteBuffers: false });
  }

  get chunks(): mongo.Collection<Chunk> {
    return this.#collection("chunks", { promoteBuffers: true });
  }

  /** Stores the record first, so that housekeeping finds an interrupted upload. */
  async begin({ _id, filename, ...file }: NewFile): Promise<void> {
    await indexesOf(this.#connection);
    await this.records.insertOne({
      _id,
      length: 0,
      chunkSize: CHUNK_BYTES,
      uploadDate: new Date(),
      filename,
      metadata: { ...file, checkAt: after(UPLOAD_MS) },
    });
  }

  async append(
    id: ObjectId,
    { first, chunks }: { readonly first: number; readonly chunks: readonly Uint8Array[] },
  ): Promise<void> {
    const all = chunks.map((data, index) => {
      const _id = new mongoose.Types.ObjectId();
      return { _id, [FILE_OF_CHUNK]: id, n: first + index, data };
    });
    await this.#inTurn(() => this.chunks.insertMany(all));
  }

  async renew(id: ObjectId): Promise<void> {
    await this.#updateUpload(id, {});
  }

  async complete(
    id: ObjectId,
    { length, sha256 }: { readonly length: number; readonly sha256: string },
  ): Promise<void> {
    await this.#updateUpload(id, { length, "metadata.sha256": sha256 });
  }

  async #updateUpload(id: ObjectId, set: object): Promise<void> {
    const $set = { ...set, "metadata.checkAt": after(UPLOAD_MS) };
    const { matchedCount } = await this.records.updateOne({ _id: id, ...NOT_REMOVED }, { $set });
    if (matchedCount === 0) {
      const cause = new Error("The upload has taken too long");
      throw new StoreFailure({ kind: "away", reason: "outage" }, cause);
    }
  }

  async confirm(id: ObjectId): Promise<void> {
    const $set = { "metadata.isConfirmed": true, "metadata.checkAt": after(CHECK_MS) };
    await this.records.updateOne({ _id: id, ...NOT_REMOVED }, { $set } as object);
  }

  /** Lets housekeeping check these files soon, because perhaps no entity refers to them any more. */
  async suspect(filter: mongo.Filter<FileRecord>, session?: mongo.ClientSession): Promise<void> {
    const $set = { "metadata.checkAt": new Date() };
    // MongoDB refuses a read or write concern on a statement in a transaction.
    const records = session === undefined
      ? this.records
      : this.#connection.getClient().db(this.#connection.name).collection(`${BUCKET}.files`);
    await records.updateMany(filter as object, { $set }, session && { session });
  }

  /** Removes the record last, so that housekeeping repeats an interrupted removal. */
  async remove(id: ObjectId): Promise<void> {
    await this.chunks.deleteMany({ [FILE_OF_CHUNK]: id });
    await this.records.deleteOne({ _id: id });
  }

  async *read(
    id: ObjectId,
    { range: { start, end }, timeBudget }: {
      readonly range: ByteRange;
      readonly timeBudget: TimeBudget;
    },
  ): AsyncGenerator<Uint8Array> {
    const last = Math.ceil(end / CHUNK_BYTES);
    transferCount++;
    try {
      for (let n = Math.floor(start / CHUNK_BYTES); n < last;) {
        const most = Math.min(last, n + chunksAtOnce());
        const found = await timeBudget.waitForNext(this.#find(id, { $gte: n, $lt: most }));
        for (; n < most; n++) {
          const from = n * CHUNK_BYTES;
          const data = found.shift()?.data.subarray(Math.max(0, start - from), end - from);
          if (data?.length !== Math.min(end, from + CHUNK_BYTES) - Math.max(start, from)) {
            throw new MissingChunkError(id);
          }
          yield data;
        }
      }
    } finally {
      transferCount--;
    }
  }

  #find(
    id: ObjectId,
    n: { readonly $gte: number; readonly $lt: number },
  ): Promise<Pick<Chunk, "data">[]> {
    const options = {
      projection: { _id: 0, data: 1 },
      sort: { n: 1 },
      limit: n.$lt - n.$gte,
      maxTimeMS: MAX_TIME_MS,
    } as const;
    return this.#inTurn(() => this.chunks.find({ [FILE_OF_CHUNK]: id, n }, options).toArray());
  }

  #inTurn<T>(statement: () => Promise<T>): Promise<T> {
    return CHUNK_STATEMENTS.of(this.#connection).run(statement);
  }

  #collection<D extends mongo.Document>(
    name: string,
    bytes: { readonly promoteBuffers: boolean },
  ): mongo.Collection<D> {
    const database = this.#connection.getClient().db(this.#connection.name);
    const settings = { ...SETTINGS, ...bytes } as mongo.CollectionOptions;
    return database.collection<D>(`${BUCKET}.${name}`, settings);
  }
}

/** More statements at a time would be no faster, and need memory for their chunks. */
const CHUNK_STATEMENTS = new StatementTurns(4);

let transferCount = 0;

export async function countTransfer<T>(upload: () => Promise<T>): Promise<T> {
  transferCount++;
  try {
    return await upload();
  } finally {
    transferCount--;
  }
}

/** The most chunks that all transfers of a process hold in memory. */
const CHUNKS_OF_ALL = 32;

const MAX_AT_ONCE = 8;

export function chunksAtOnce(): number {
  return Math.max(1, Math.min(MAX_AT_ONCE, Math.floor(CHUNKS_OF_ALL / transferCount)));
}

export class MissingChunkError extends Error {
  override name = "MissingChunkError";

  constructor(id: ObjectId) {
    super(`Cannot read the file ${id}: a chunk is missing`);
  }
}

function after(ms: number): Date {
  return new Date(Date.now() + ms);
}

async function indexesOf(connection: Connection): Promise<void> {
  const ofClient = builds(connection.getClient());
  const { name } = connection;
  const build = ofClient.get(name) ?? createIndexes(new FileStore(connection));
  if (!ofClient.has(name)) noteBuild(connection, build);
  ofClient.set(name, build);
  await build.catch((error) => {
    ofClient.delete(name);
    throw error;
  });
}

/** Uploads wait for the build in their database, so that indexes are created only once. */
const builds = memoize((_client: object) => new Map<string, Promise<void>>());

async function createIndexes({ records, chunks }: FileStore): Promise<void> {
  const options = { maxTimeMS: MAX_TIME_MS };
  await chunks.createIndex({ [FILE_OF_CHUNK]: 1, n: 1 }, { unique: true, ...options });
  await records.createIndexes([
    { key: { filename: 1, uploadDate: 1 } },
    { key: { "metadata.collection": 1, "metadata.entity": 1 } },
    { key: { "metadata.collection": 1, "metadata.checkAt": 1 } },
  ], options);
}
