import { assertEquals } from "@std/assert";
import mongoose, { type Connection } from "mongoose";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { type Reply, request } from "../../harness/request.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";

/** The class options that hide the further entities of the first twin. */
export type Hiding = "trash" | "tenants" | "both";

export interface TwinData {
  readonly hiding: Hiding;
  /** Whether the models are Mongoose's, and adopted. */
  readonly isAdopted: boolean;
  readonly mongo: string;
  /** The time when the twins start, from which they make identifiers. */
  readonly start: number;
}

/** A request that both twins get. */
export interface TwinRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly headers: Record<string, string>;
}

export type Stored = Record<string, unknown>;

/** An application that serves the models in a thread, and a connection to its database. */
interface Twin {
  readonly url: string;
  readonly db: Connection;
  readonly worker: Worker;
}

/** A date that the request has made, and not the seed. */
export const NOW = /"20[2-9]\d-\d\d-\d\dT[\d:.]+Z"/g;

const VARYING = ["date", "connection", "keep-alive"];

/** The collections of the models and of their histories. */
export const COLLECTIONS = ["items", "holders", "items_history", "holders_history"] as const;

/**
 * Two applications with equal models. The database of the first has further entities, which the requests do not
 * reach, so both must answer alike.
 */
export class Twins implements AsyncDisposable {
  readonly all: readonly Twin[];
  #turn = 0;

  private constructor(all: readonly Twin[]) {
    this.all = all;
  }

  static async start(hiding: Hiding, isAdopted = false): Promise<Twins> {
    const data = { hiding, isAdopted, mongo: await sharedReplicaSet(), start: Date.now() };
    return new Twins(await Promise.all([data, data].map(startTwin)));
  }

  get first(): Twin {
    return this.all[0] as Twin;
  }

  get second(): Twin {
    return this.all[1] as Twin;
  }

  /** Sends a request to both, and returns both answers. */
  async send(sent: TwinRequest): Promise<[Reply, Reply]> {
    this.#turn++;
    return await Promise.all([this.#sendTo(this.first, sent), this.#sendTo(this.second, sent)]);
  }

  /** Sends a request to the second twin only. With `isContinued`, it makes the next identifiers of the turn. */
  async sendSecond(sent: TwinRequest, isContinued: boolean): Promise<Reply> {
    const headers = { ...sent.headers, ...isContinued && { "x-continued": "yes" } };
    return await this.#sendTo(this.second, { ...sent, headers });
  }

  /** Begins the turn of the next requests. */
  begin(): void {
    this.#turn++;
  }

  /** Sends a request to the first twin in the turn that has begun. */
  async sendBatch(sent: TwinRequest): Promise<Reply> {
    return await this.#sendTo(this.first, sent);
  }

  /** Sends a request to the first twin only. */
  async sendFirst(sent: TwinRequest): Promise<Reply> {
    this.#turn++;
    return await this.#sendTo(this.first, sent);
  }

  async #sendTo({ url }: Twin, { path, ...sent }: TwinRequest): Promise<Reply> {
    const headers = { ...sent.headers, "x-turn": String(this.#turn) };
    return await request(`${url}${path}`, { ...sent, headers });
  }

  /** Sends a request to both, and compares the answers. Returns the answer. */
  async compare(sent: TwinRequest): Promise<Reply> {
    const [one, other] = await this.send(sent);
    assertEquals(shownOf(one, sent), shownOf(other, sent), JSON.stringify(sent));
    return one;
  }

  /** Reads the stored documents as texts, without those whose names are given. */
  async stored({ db }: Twin, without: ReadonlySet<string>): Promise<string[]> {
    const lists = await Promise.all(COLLECTIONS.map(async (name) => {
      const docs = await db.collection(name).find().sort({ entity: 1, version: 1, _id: 1 })
        .toArray();
      const left = docs.filter(({ _id, entity }) => !without.has(String(entity ?? _id)));
      return left.map((doc) => {
        const { _id, ...others } = doc;
        const own = name.endsWith("_history") ? others : doc;
        return `${name} ${JSON.stringify(own).replaceAll(NOW, '"NOW"')}`;
      });
    }));
    return lists.flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { worker, db } of this.all) {
      worker.postMessage("stop");
      await once(worker, "message");
      await worker.terminate();
      await db.close();
    }
  }
}

async function startTwin(workerData: TwinData): Promise<Twin> {
  const worker = new Worker(new URL("./twin_worker.ts", import.meta.url), { workerData });
  const failed = once(worker, "error").then(([error]) => Promise.reject(error));
  const [started] = await Promise.race([once(worker, "message"), failed]);
  failed.catch(() => {});
  return {
    url: started.url,
    worker,
    db: await mongoose.createConnection(started.database).asPromise(),
  };
}

/**
 * Returns the parts of an answer that must be equal. Times that the request has made are left out, and the order of a
 * list without an order.
 */
function shownOf({ status, headers, text, body }: Reply, { path }: TwinRequest) {
  const all = [...headers].filter(([name]) => !VARYING.includes(name));
  const isOrdered = !/^\/(hooked|lean)\?/.test(path) || status !== 200;
  const isTimed = path.includes("/history");
  const shown = all.filter(([name]) =>
    isOrdered && !isTimed || name !== "etag" && name !== "content-length"
  );
  const lines = isOrdered || !Array.isArray(body)
    ? text
    : body.map((each) => JSON.stringify(each)).sort().join("\n");
  return { status, headers: Object.fromEntries(shown), text: lines.replaceAll(NOW, '"NOW"') };
}
