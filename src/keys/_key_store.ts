import mongoose from "mongoose";
import type { Collection, Connection } from "mongoose";
import type { Buffer } from "node:buffer";
import { setImmediate, setTimeout } from "node:timers";
import type { Actor } from "../plugin/mod.ts";

export interface StoredKey {
  readonly _id: mongoose.mongo.ObjectId;
  readonly hash: Buffer;
  readonly prefix: string;
  readonly name: string;
  readonly owner: Actor;
  /** `null` if the application has no tenants. */
  readonly tenant: Actor | null;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly endedAt: Date | null;
  /** A number below `max`, which a unique index allows once for each owner. Only keys with a number count for `max`. */
  readonly place?: number;
}

type Filter = mongoose.mongo.Filter<StoredKey>;

const COLLECTION = "mongrove_api_keys";

const LIST_MAX = 1000;

const USED_MS = 60_000;

const KEEP_MS = 30 * 24 * 3600_000;

const DUPLICATE = 11000;

const MAX_TIME_MS = 5000;

const FRESH = { readPreference: "primary", maxTimeMS: MAX_TIME_MS } as const;

const SURE = {
  writeConcern: { w: "majority", wtimeout: MAX_TIME_MS },
  maxTimeMS: MAX_TIME_MS,
} as const;

export interface KeyOwner {
  readonly owner: Actor;
  readonly tenant: Actor | null;
}

export type NewStoredKey = Pick<
  StoredKey,
  "hash" | "prefix" | "name" | "owner" | "tenant" | "scopes" | "expiresAt"
>;

export class KeyStore {
  readonly #connection: Connection | undefined;
  #indexed: Promise<unknown> | undefined;
  readonly #noted = new Set<string>();
  readonly #finding = new Map<string, Promise<StoredKey | undefined>>();

  constructor(connection: Connection | undefined) {
    this.#connection = connection;
  }

  get #keys(): Collection<StoredKey> {
    return (this.#connection ?? mongoose.connection).collection<StoredKey>(COLLECTION);
  }

  /** Requests with the same key in one turn of the event loop share a look-up. */
  find(hashes: readonly Buffer[]): Promise<StoredKey | undefined> {
    const name = hashes.map((hash) => hash.toString("latin1")).join("");
    const running = this.#finding.get(name);
    if (running !== undefined) return running;
    // The read begins after the last of these requests, so that it sees each earlier revocation.
    const found = new Promise<void>((resolve) => void setImmediate(resolve)).then(() => {
      this.#finding.delete(name);
      return this.#find(hashes);
    });
    this.#finding.set(name, found);
    return found;
  }

  /** Reads from the primary: secondaries may not know of a revocation yet. */
  async #find(hashes: readonly Buffer[]): Promise<StoredKey | undefined> {
    const found = await this.#keys.findOne({ hash: { $in: [...hashes] } }, FRESH);
    return found !== null && isValid(found, new Date()) ? found : undefined;
  }

  /** Newest first. If there are too many, ended and expired keys are left out first. */
  async list(filter: Partial<KeyOwner>): Promise<StoredKey[]> {
    const isExpired = { $and: ["$expiresAt", { $lte: ["$expiresAt", new Date()] }] };
    const found = await this.#keys.aggregate<StoredKey>([
      { $match: exactly(filter) },
      { $set: { isOver: { $or: ["$endedAt", isExpired] } } },
      { $sort: { isOver: 1, createdAt: -1, _id: -1 } },
      { $limit: LIST_MAX },
      { $unset: "isOver" },
    ], FRESH).toArray();
    return found.sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
  }

  /** At most once a minute, so that reads cause few writes. */
  async noteUse({ _id, lastUsedAt }: StoredKey): Promise<void> {
    const now = Date.now();
    if (lastUsedAt !== null && now - lastUsedAt.getTime() < USED_MS) return;
    // A failed write is tried again only after a minute, or else each request would repeat it.
    const id = String(_id);
    if (this.#noted.has(id)) return;
    this.#noted.add(id);
    setTimeout(() => this.#noted.delete(id), USED_MS).unref();
    const use = { $set: { lastUsedAt: new Date(now) } };
    await this.#keys.updateOne({ _id, lastUsedAt }, use, { maxTimeMS: MAX_TIME_MS });
  }

  /** Returns `undefined` if the owner has `max` valid keys. A unique index enforces this limit. */
  async add(key: NewStoredKey, max: number): Promise<StoredKey | undefined> {
    await this.#buildIndexes();
    const { owner, tenant } = key;
    const ofOwner = exactly({ owner, tenant });
    const createdAt = new Date();
    const expired = { place: { $exists: true }, expiresAt: { $lte: createdAt, $ne: null } };
    await this.#keys.updateMany(
      { ...ofOwner, ...expired } as Filter,
      { $unset: { place: "" } },
      SURE,
    );
    for (;;) {
      const taken = await this.#keys.distinct(
        "place",
        { ...ofOwner, place: { $exists: true } },
        FRESH,
      );
      // If `max` was lowered, the owner may have more keys.
      if (taken.length >= max) return undefined;
      const place = Array.from({ length: max }, (_, at) => at).find((at) => !taken.includes(at));
      if (place === undefined) return undefined;
      const stored: StoredKey = {
        _id: new mongoose.mongo.ObjectId(),
        ...key,
        createdAt,
        lastUsedAt: null,
        endedAt: null,
        place,
      };
      try {
        await this.#keys.insertOne(stored, SURE);
        return stored;
      } catch (error) {
        // Another request has stored a key with this `place`, so the next free one is tried.
        if (Object(error).code === DUPLICATE) continue;
        // The key may be stored despite the error, but nobody gets its secret.
        await this.remove(stored._id).catch(() => {});
        throw error;
      }
    }
  }

  /** After an error, the old secret may be invalid, although nobody has the new one. */
  async replace(
    _id: StoredKey["_id"],
    { hash, prefix, expiresAt, ...owner }:
      & KeyOwner
      & Pick<StoredKey, "hash" | "prefix" | "expiresAt">,
  ): Promise<StoredKey | undefined> {
    const now = new Date();
    const filter = { ...exactly(owner), ...validAt(now), _id } as Filter;
    const values = { hash, prefix, expiresAt, createdAt: now, lastUsedAt: null };
    const options = { returnDocument: "after", ...SURE } as const;
    return await this.#keys.findOneAndUpdate(filter, { $set: values }, options) ?? undefined;
  }

  /** Returns `false` if there is no such key. Only a valid key can get a later end. */
  async endAt(
    _id: StoredKey["_id"],
    { at, ...owner }: Partial<KeyOwner> & { readonly at: Date },
  ): Promise<boolean> {
    const now = new Date();
    const isOver = at.getTime() <= now.getTime();
    const filter = { ...exactly(owner), ...isOver ? {} : validAt(now), _id } as Filter;
    const change = isOver
      ? [{ $set: { endedAt: { $ifNull: ["$endedAt", at] } } }, { $unset: "place" }]
      : [{ $set: { expiresAt: { $min: [{ $ifNull: ["$expiresAt", at] }, at] } } }];
    const { matchedCount } = await this.#keys.updateOne(filter, change, SURE);
    return matchedCount > 0;
  }

  async findOwn(_id: StoredKey["_id"], owner: KeyOwner): Promise<StoredKey | undefined> {
    const filter = { ...exactly(owner), ...validAt(new Date()), _id } as Filter;
    return await this.#keys.findOne(filter, FRESH) ?? undefined;
  }

  async remove(_id: StoredKey["_id"]): Promise<void> {
    await this.#keys.deleteOne({ _id });
  }

  async clean(at: Date): Promise<number> {
    const before = new Date(at.getTime() - KEEP_MS);
    const { deletedCount } = await this.#keys.deleteMany({
      $or: [{ endedAt: { $lt: before } }, { expiresAt: { $lt: before } }],
    });
    return deletedCount;
  }

  #buildIndexes(): Promise<unknown> {
    this.#indexed ??= this.#keys.createIndexes([
      { key: { hash: 1 }, unique: true },
      {
        key: { owner: 1, tenant: 1, place: 1 },
        unique: true,
        partialFilterExpression: { place: { $exists: true } },
      },
      { key: { owner: 1, tenant: 1, createdAt: -1 } },
    ]).catch((error) => {
      this.#indexed = undefined;
      throw error;
    });
    return this.#indexed;
  }
}

function isValid({ endedAt, expiresAt }: StoredKey, now: Date): boolean {
  return endedAt === null && (expiresAt === null || expiresAt > now);
}

function validAt(now: Date): Filter {
  return { endedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
}

/** An owner is data of the application. Without `$eq`, an object in it could act as an operator. */
function exactly(filter: Partial<KeyOwner>): Filter {
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, { $eq: value }]));
}
