import mongoose from "mongoose";
import type { Reply } from "../../harness/request.ts";
import { asQuery } from "../../support/support.ts";
import type { Client, EntityBody } from "../../support/client.ts";

/** The numbers of records of plans and of remarks that a request may have added. */
type Added = readonly [plans: number, remarks: number];

/** A request, with what it may have added. Its sender is in the records that it has added. */
interface Sent {
  readonly sender: string;
  readonly request: string;
  readonly status: number;
  readonly added: readonly Added[];
}

/** A request that a client may send. Its records are those after a success. */
interface Way {
  readonly method: "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  readonly records: readonly Added[];
}

/** A plan that clients have seen, with the identifiers of its parts. It may be removed. */
interface Known {
  readonly id: string;
  step: string;
  remark: string;
}

export interface PlanBody extends EntityBody {
  readonly createdAt: string;
  readonly steps: readonly EntityBody[];
  readonly remarks: readonly string[];
}

const PLANS = 12;
const NOTHING: Added = [0, 0];
const NOBODY = "0".repeat(24);

/** Clients that send random writes to a few plans. */
export class RecordedLoad {
  readonly sent: Sent[] = [];
  /** The plans that answers have shown. */
  readonly shown: PlanBody[] = [];
  readonly #api: Client;
  readonly #known: Known[] = Array.from({ length: PLANS }, () => {
    return { id: String(new mongoose.Types.ObjectId()), step: NOBODY, remark: NOBODY };
  });
  #count = 0;

  constructor(api: Client) {
    this.#api = api;
  }

  get successes(): number {
    return this.sent.filter(({ status }) => status < 300).length;
  }

  /** Sends requests, one after the other, until so many writes have succeeded. */
  async send(writes: number): Promise<void> {
    while (this.successes < writes) {
      const plan = oneOf(this.#known);
      await this.#sendOne(plan, oneOf(waysTo(plan, oneOf(this.#known))));
    }
  }

  async #sendOne(plan: Known, { method, path, body, records }: Way): Promise<void> {
    const sender = `${++this.#count}`;
    const headers = { "x-user": sender };
    const reply = await this.#api.send<PlanBody>(method, path, {
      headers,
      ...body !== undefined && { body },
    }).catch(() => undefined);
    const status = reply?.status ?? 0;
    const isRefused = status >= 400 && status < 500;
    const added = status >= 500 || status === 0
      ? [NOTHING, ...records]
      : isRefused
      ? [NOTHING]
      : records;
    this.sent.push({ sender, request: `${method} ${path}`, status, added });
    if (reply !== undefined && status < 300) this.#learn(plan, reply);
  }

  /** Keeps an answer with a plan, and the identifiers of new parts. */
  #learn(plan: Known, { body }: Reply<PlanBody>): void {
    if (body === undefined || body === null || Array.isArray(body)) return;
    if (body.createdAt === undefined) {
      plan.step = plan.remark = body._id ?? NOBODY;
      return;
    }
    this.shown.push(body);
    if (body._id !== plan.id) return;
    plan.step = body.steps[0]?._id ?? NOBODY;
    plan.remark = body.remarks[0] ?? NOBODY;
  }
}

function oneOf<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)] as T;
}

const ONE: readonly Added[] = [[1, 0]];

/** Requests that write a plan, a part of it, or two plans. Changes are the most frequent. */
function waysTo({ id, step, remark }: Known, other: Known): Way[] {
  const path = `/plans/${id}`;
  const text = `${Math.random()}`.slice(2, 8);
  const both = asQuery({ _id: { $in: [id, other.id] } });
  const upToTwo: readonly Added[] = [[0, 0], [1, 0], [2, 0]];
  const patch = (body: object, at = path): Way => ({
    ...{ method: "PATCH", path: at, body, records: ONE },
  });
  const version = Math.floor(Math.random() * 20);
  return [
    ...[patch({ name: text }), patch({ state: text, cost: 7 }), patch({ name: text, cost: null })],
    ...[patch({ tags: [text] }), patch({ name: text }, `/hooked-plans/${id}`), patch({})],
    patch({ steps: [{ text }, { text: "b" }] }),
    { method: "PUT", path, body: { name: text }, records: ONE },
    { method: "PUT", path, body: { name: text, steps: [{ text }] }, records: ONE },
    { method: "POST", path: `${path}/shout`, body: {}, records: ONE },
    { method: "POST", path: `${path}/revert`, body: { version }, records: ONE },
    { method: "POST", path: `${path}/steps`, body: { text }, records: ONE },
    { method: "PATCH", path: `${path}/steps/${step}`, body: { text }, records: ONE },
    { method: "DELETE", path: `${path}/steps/${step}`, records: ONE },
    {
      ...{ method: "PATCH", path: `${path}/steps${asQuery({})}`, body: { text } },
      records: [[0, 0], [1, 0]],
    },
    { method: "POST", path: `${path}/remarks`, body: { text }, records: [[1, 1]] },
    { method: "PATCH", path: `${path}/remarks/${remark}`, body: { text }, records: [[0, 1]] },
    { method: "DELETE", path: `${path}/remarks/${remark}`, records: [[1, 1]] },
    { method: "PATCH", path: `/plans${both}`, body: { state: text }, records: upToTwo },
    { method: "POST", path: "/plans", body: { name: text }, records: ONE },
    { method: "POST", path: "/plans", body: [{ name: "a" }, { name: text }], records: [[2, 0]] },
    // Most plans live for long, because requests to a removed plan write nothing.
    ...Math.random() < 0.3
      ? [
        oneOf<Way>([
          { method: "DELETE", path, records: ONE },
          { method: "DELETE", path: `/hooked-plans/${id}`, records: ONE },
          { method: "DELETE", path: `/plans${both}`, records: upToTwo },
        ]),
      ]
      : [],
  ];
}
