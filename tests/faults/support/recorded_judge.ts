import { Buffer } from "node:buffer";
import mongoose, { type Connection } from "mongoose";
import { SECRET } from "./recorded.ts";
import type { PlanBody, RecordedLoad } from "./recorded_load.ts";

const { BSON } = mongoose.mongo;

type Stored = Record<string, unknown> & { readonly _id: unknown; readonly __v: number };

interface StoredRecord {
  readonly entity: unknown;
  readonly version: number;
  readonly at: Date;
  readonly actor?: string;
  readonly operation: string;
  readonly changed: readonly string[];
  readonly before: Record<string, unknown>;
}

/** The options that keep the type of every stored value. */
const AS_STORED = { promoteLongs: false, readConcern: "majority" } as const;

async function read<T>(connection: Connection, name: string): Promise<T[]> {
  return await connection.collection(name).find({}, AS_STORED).toArray() as T[];
}

/** The values that records contain. */
function recordable({ secret: _secret, __v: _version, ...values }: Stored): Stored {
  if (!Array.isArray(values.steps)) return values as Stored;
  const steps = values.steps.map(({ token: _token, ...step }) => step);
  return { ...values, steps } as never;
}

/** Returns the bytes of values as text. The order of the fields does not count. */
function bytesOf(values: object): string {
  const sorted = Object.entries(values).sort(([a], [b]) => a < b ? -1 : 1);
  return Buffer.from(BSON.serialize(Object.fromEntries(sorted))).toString("base64");
}

/** Names a version of an entity. An entity that is created again has another time of its creation. */
function keyOf({ _id, createdAt }: Record<string, unknown>, version: number): string {
  return `${_id} of ${new Date(createdAt as Date).toISOString()}, version ${version}`;
}

/** The versions of plans that a reader has found, as they were stored. */
export class SeenVersions {
  readonly #connection: Connection;
  readonly versions = new Map<string, string>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads again and again, until `isDone()`. */
  async poll(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      const found = await read<Stored>(this.#connection, "plans").catch(() => []);
      for (const plan of found) {
        this.versions.set(keyOf(plan, plan.__v), bytesOf(recordable(plan)));
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

/** The fields of an answer with which a version is compared. */
function shownIn({ name, state, tags, changedBy }: Record<string, unknown>): string {
  return JSON.stringify([name, state, tags ?? [], changedBy]);
}

/** Compares the records of plans with the versions that were seen, and with what clients were told. */
export class RecordedJudge {
  readonly wrong: string[] = [];
  /** How many versions were compared: stored ones, and those of answers. */
  readonly judged = { stored: 0, shown: 0, records: 0 };
  readonly #seen: ReadonlyMap<string, string>;
  readonly #shown: ReadonlyMap<string, PlanBody>;

  constructor({ seen, load }: { readonly seen: SeenVersions; readonly load: RecordedLoad }) {
    this.#seen = seen.versions;
    this.#shown = new Map(
      load.shown.map((body) => [`${keyOf(body, body.__v)} by ${body.changedBy}`, body]),
    );
  }

  /** Goes through the records of each plan backwards. */
  async judgeVersions(connection: Connection): Promise<void> {
    const stored = new Map(
      (await read<Stored>(connection, "plans")).map((plan) => [String(plan._id), plan]),
    );
    const records = await read<StoredRecord>(connection, "plans_history");
    if (JSON.stringify(records).includes(SECRET)) this.wrong.push("a record has a hidden value");
    this.judged.records = records.length;
    const byEntity = Map.groupBy(records, ({ entity }) => String(entity));
    for (const id of new Set([...stored.keys(), ...byEntity.keys()])) {
      const own = (byEntity.get(id) ?? []).sort((a, b) => Number(a.at) - Number(b.at));
      const lives = livesOf(own);
      if (lives.length === 0) this.wrong.push(`${id} has no record`);
      for (const [index, life] of lives.entries()) {
        const now = index === lives.length - 1 ? stored.get(id) : undefined;
        this.#judgeLife(id, { life, now });
      }
    }
  }

  #judgeLife(
    id: string,
    { life, now }: { readonly life: readonly StoredRecord[]; readonly now: Stored | undefined },
  ): void {
    const numbers = life.map(({ version }) => version);
    const last = numbers.at(-1);
    const isRemoved = /^remove/.test(life.at(-1)?.operation ?? "");
    const isWhole = numbers.every((version, index) => version === index) &&
      (now === undefined ? isRemoved : !isRemoved && Number(now.__v) === last);
    if (!isWhole) this.wrong.push(`${id} has version ${now?.__v}, and records of ${numbers}`);
    let values: Record<string, unknown> = now === undefined ? {} : recordable(now);
    for (const { version, before, changed } of life.toReversed()) {
      this.#compare(values, version);
      const others = Object.entries(values).filter(([name]) => !changed.includes(name));
      values = { ...Object.fromEntries(others), ...before };
    }
  }

  #compare(values: Record<string, unknown>, version: number): void {
    if (values._id === undefined) return;
    const key = keyOf(values, version);
    const stored = this.#seen.get(key);
    if (stored !== undefined) {
      this.judged.stored++;
      if (stored !== bytesOf(values)) this.wrong.push(`${key} differs from the stored version`);
    }
    // A write by documents may answer with a lower version than it has got, if another request has written meanwhile.
    const shown = this.#shown.get(`${key} by ${values.changedBy}`);
    if (shown === undefined) return;
    this.judged.shown++;
    if (shownIn(shown) !== shownIn(values)) this.wrong.push(`${key} differs from an answer`);
  }

  /** Compares the records of each request with its answer. */
  async judgeRequests(connection: Connection, { sent }: RecordedLoad): Promise<void> {
    const countOf = async (name: string) => {
      const records = await read<StoredRecord>(connection, name);
      return Map.groupBy(records, ({ actor }) => actor ?? "nobody");
    };
    const [plans, remarks] = [await countOf("plans_history"), await countOf("remarks_history")];
    for (const { sender, request, status, added } of sent) {
      const own = [plans.get(sender)?.length ?? 0, remarks.get(sender)?.length ?? 0];
      if (!added.some((each) => each.join() === own.join())) {
        this.wrong.push(`${request} answered ${status}, and has ${own} records`);
      }
    }
    const senders = new Set(sent.map(({ sender }) => sender));
    const others = [...plans.keys(), ...remarks.keys()].filter((each) => !senders.has(each));
    if (others.length > 0) this.wrong.push(`there are records of ${others}`);
  }

  /** Compares the versions of remarks with their records. */
  async judgeRemarks(connection: Connection): Promise<void> {
    const records = await read<StoredRecord>(connection, "remarks_history");
    const byEntity = Map.groupBy(records, ({ entity }) => String(entity));
    for (const { _id, __v } of await read<Stored>(connection, "remarks")) {
      const versions = (byEntity.get(String(_id)) ?? []).map(({ version }) => version).sort();
      if (versions.length !== Number(__v) + 1) {
        this.wrong.push(`remark ${_id} has version ${__v}, and records of ${versions}`);
      }
    }
  }
}

/** Divides the records of an entity, which may have been removed and created again. */
function livesOf(records: readonly StoredRecord[]): StoredRecord[][] {
  const lives: StoredRecord[][] = [];
  for (const record of records) {
    if (record.version === 0 || lives.length === 0) lives.push([]);
    lives.at(-1)?.push(record);
  }
  return lives;
}
