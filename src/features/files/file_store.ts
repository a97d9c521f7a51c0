import mongoose from "mongoose";
import type { Connection, mongo } from "mongoose";
import { StatementTurns } from "../../database/statement_turns.ts";
import { MAX_TIME_MS, type TimeBudget } from "../../database/time_budget.ts";
import { StoreFailure } from "../../errors/failure.ts";
import { noteBuild } from "../../schema/build_waits.ts";
import { memoize } from "../../schema/memoize.ts";
import type { ByteRange } from "./range.ts";

type ObjectId = mongo.ObjectId;

/** The bucket of GridFS with the bytes of all files of a database. */
const BUCKET = "mongrove_files";

/**
 * The number of bytes of a chunk, which is the default of GridFS. The number must not change, because reads find the
 * chunks of stored files by it.
 */
export const CHUNK_BYTES = 255 * 1024;

/**
 * The time after which housekeeping checks an upload that has not ended, in milliseconds. It removes the file, unless
 * the entity refers to the file.
 */
const UPLOAD_MS = 60 * 60_000;

/** The time between two checks whether the entity of a file still refers to the file, in milliseconds. */
export const CHECK_MS = 20 * 60 * 60_000;

/**
 * The record of a file, which GridFS stores in the collection `mongrove_files.files`. Its metadata tell housekeeping
 * which entity to search for the file.
 */
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
  /**
   * The name of the collection that stores the entity of the file, in which housekeeping looks up the identifier
   * `entity`.
   */
  readonly collection: string;
  readonly entity: unknown;
  /** The time at which housekeeping checks whether the entity still refers to the file. */
  readonly checkAt: Date;
  /** `true` if the entity has referred to the file at least once. Missing during the upload. */
  readonly isConfirmed?: true;
  /**
   * `true` if housekeeping has begun to remove the file. An upload of the file fails when it next updates this record.
   */
  readonly isRemoved?: true;
}

/** The field of a chunk with the identifier of its file, as GridFS names it. */
const FILE_OF_CHUNK = "files_id";

interface Chunk {
  readonly _id: ObjectId;
  readonly [FILE_OF_CHUNK]: ObjectId;
  readonly n: number;
  readonly data: Uint8Array;
}

/** The entity to which a new file will belong, and the description of the file. */
export type NewFile =
  & Pick<FileMetadata, "collection" | "entity" | "type">
  & Pick<FileRecord, "_id" | "filename">;

/**
 * The settings of all statements on files, in the place of the settings of the connection. A connection may return
 * numbers and bytes as objects, or acknowledge a write before most members of the replica set have it. A file whose
 * bytes are lost with a member would break its entity.
 */
const SETTINGS = {
  promoteValues: true,
  promoteBuffers: true,
  promoteLongs: true,
  useBigInt64: false,
  raw: false,
  readPreference: "primary",
  readConcern: { level: "local" },
  writeConcern: { w: "majority" },
} as const;

const NOT_REMOVED = { "metadata.isRemoved": { $exists: false } };

/**
 * The files of a database in GridFS. The record of a file is stored before its first chunk, so that housekeeping finds
 * the chunks of an upload that was interrupted.
 */
export class FileStore {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get records(): mongo.Collection<FileRecord> {
    return this.#collection("files");
  }

  get chunks(): mongo.Collection<Chunk> {
    return this.#collection("chunks");
  }

  /**
   * Stores the record of a file in GridFS before its first chunk, so that housekeeping finds an upload that was
   * interrupted.
   */
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

  /** Stores the next chunks of a file in GridFS, of which the first one has the number `first`. */
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

  /**
   * Postpones the check of a running upload by housekeeping, which would remove the file. Throws a 503 if housekeeping
   * has removed the file already.
   */
  async renew(id: ObjectId): Promise<void> {
    await this.#updateUpload(id, {});
  }

  /**
   * Stores the number of bytes and the hash in the record of a file in GridFS, after its last byte was stored. Throws a
   * 503 if housekeeping has removed the file.
   */
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

  /**
   * Marks the record of a file in GridFS when the entity refers to the file, so that housekeeping does not check the
   * file as an unfinished upload.
   */
  async confirm(id: ObjectId): Promise<void> {
    const $set = { "metadata.isConfirmed": true, "metadata.checkAt": after(CHECK_MS) };
    await this.records.updateOne({ _id: id, ...NOT_REMOVED }, { $set } as object);
  }

  /** Makes housekeeping check files soon, because their entities may not refer to them any more. */
  async suspect(filter: mongo.Filter<FileRecord>, session?: mongo.ClientSession): Promise<void> {
    const $set = { "metadata.checkAt": new Date() };
    // MongoDB refuses a read or write concern on a statement in a transaction, so the collection has none of them if
    // the statement has a session.
    const records = session === undefined
      ? this.records
      : this.#connection.getClient().db(this.#connection.name).collection(`${BUCKET}.files`);
    await records.updateMany(filter as object, { $set }, session && { session });
  }

  /**
   * Removes the bytes and the record of a file from GridFS. The record is removed last, so that housekeeping repeats a
   * removal that was interrupted.
   */
  async remove(id: ObjectId): Promise<void> {
    await this.chunks.deleteMany({ [FILE_OF_CHUNK]: id });
    await this.records.deleteOne({ _id: id });
  }

  /**
   * Reads a range of bytes of a file from GridFS, chunk by chunk. Throws if a chunk is missing, because the file was
   * removed during the read.
   */
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

  #collection<D extends mongo.Document>(name: string): mongo.Collection<D> {
    const database = this.#connection.getClient().db(this.#connection.name);
    return database.collection<D>(`${BUCKET}.${name}`, SETTINGS as mongo.CollectionOptions);
  }
}

/**
 * The turns of statements that read or store chunks of GridFS. At most four of them run at a time on a connection pool,
 * because more would not be faster and each one takes memory for its chunks.
 */
const CHUNK_STATEMENTS = new StatementTurns(4);

/**
 * The number of uploads and downloads that run in this process. The more of them run, the fewer chunks each of them
 * holds in memory.
 */
let transferCount = 0;

/**
 * Runs an upload, and counts it as running until it ends. The number of running uploads and downloads limits the chunks
 * that each of them holds in memory.
 */
export async function countTransfer<T>(upload: () => Promise<T>): Promise<T> {
  transferCount++;
  try {
    return await upload();
  } finally {
    transferCount--;
  }
}

/**
 * The number of chunks of GridFS that all uploads and downloads of a process share, which limits their memory. Each
 * upload or download has at least one chunk, however many of them run.
 */
const CHUNKS_OF_ALL = 32;

/**
 * The maximum number of chunks of GridFS that one statement reads or stores, so that one statement needs at most 2 MB.
 */
const MAX_AT_ONCE = 8;

/**
 * Returns the number of chunks of GridFS that the next statement of an upload or download may read or store. Several
 * chunks are faster. While many uploads and downloads run, each statement has one chunk, so that all of them fit into
 * the memory.
 */
export function chunksAtOnce(): number {
  return Math.max(1, Math.min(MAX_AT_ONCE, Math.floor(CHUNKS_OF_ALL / transferCount)));
}

/** The error of a download whose file was removed or replaced before its last byte was read. */
export class MissingChunkError extends Error {
  override name = "MissingChunkError";

  constructor(id: ObjectId) {
    super(`Cannot read the file ${id}: a chunk is missing`);
  }
}

function after(ms: number): Date {
  return new Date(Date.now() + ms);
}

/**
 * Creates the indexes of the files of a database once in this process. A failed creation is repeated by the next
 * upload.
 */
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

/**
 * The promises of the index creations for files, by the name of the database for each MongoDB client. Uploads wait for
 * the promise of their database, so that its indexes are created only once.
 */
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
