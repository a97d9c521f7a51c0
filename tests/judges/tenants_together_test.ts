import { assert, assertEquals } from "@std/assert";
import { openLive } from "../features/live/live.ts";
import { serveCompanies } from "../features/tenants/companies.ts";
import { casesOf, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import type { SendOptions } from "../support/client.ts";
import type { Mounted } from "../support/support.ts";
import { until } from "../support/until.ts";
import { Random } from "./twins/random.ts";

/** The identifiers of the tenants. */
const TENANTS = Array.from({ length: 8 }, (_, index) => String(index + 1).repeat(24));

/** How many clients each tenant has, and how many requests each client sends. */
const [CLIENTS, REQUESTS] = [4, casesOf(20, 6)];

/** An answer, with the tenant of its request. */
interface Answered {
  readonly tenant: string;
  readonly what: string;
  readonly text: string;
}

/** The answers of all clients, and the tenants of the entities that they have created. */
class Answers {
  readonly all: Answered[] = [];
  readonly ids: string[] = [];
  readonly #tenants = new Map<string, string>();

  add(answered: Answered, body: unknown): void {
    this.all.push(answered);
    for (const { _id, company } of [body].flat().map(Object)) {
      if (typeof _id !== "string" || company !== answered.tenant) continue;
      if (!this.#tenants.has(_id)) this.ids.push(_id);
      this.#tenants.set(_id, company);
    }
  }

  /** Throws if an answer has an identifier of another tenant, or of one of its entities. */
  check(): void {
    for (const { tenant, what, text } of this.all) {
      for (const [id] of text.matchAll(/\b[0-9a-f]{24}\b/g)) {
        const owner = this.#tenants.get(id) ?? (TENANTS.includes(id) ? id : tenant);
        assertEquals(owner, tenant, `${what}: ${text}`);
      }
    }
  }
}

interface Client {
  readonly app: Mounted;
  readonly tenant: string;
  readonly answers: Answers;
  readonly random: Random;
}

/** Returns a request of a client, which may name an entity of any tenant. */
function requestOf({ random, answers }: Client): [string, string, SendOptions & { body?: object }] {
  const id = random.one(answers.ids) ?? "0123456789abcdef01234567";
  const body = { name: random.one([..."abc"]), code: `code ${random.below(6)}` };
  const headers = { "idempotency-key": `key ${random.below(12)}` };
  return random.one<[string, string, SendOptions & { body?: object }]>([
    ["POST", "/projects", { body }],
    ["POST", "/projects", { body: { name: `${random.below(3)}` }, headers }],
    ["POST", "/projects", { body: [body, { name: "d" }] }],
    ["POST", "/hooked", { body }],
    ["PUT", `/keyed/code ${random.below(6)}`, { body: { name: body.name } }],
    ["GET", "/projects?sort=name&populate=notes,next", {}],
    ["GET", `/projects?q={"_id":"${id}"}`, {}],
    ["GET", `/projects/${id}?populate=notes`, {}],
    ["GET", `/projects/${id}/history`, {}],
    ["PATCH", `/projects/${id}`, { body: { next: random.one(answers.ids) ?? null } }],
    ["PATCH", `/projects?q={"name":"a"}`, { body: { state: "done" } }],
    ["POST", `/projects/${id}/notes`, { body: { text: "n" } }],
    ["DELETE", `/projects/${id}`, {}],
  ]);
}

async function runClient(client: Client): Promise<void> {
  const { app, tenant, answers } = client;
  for (let sent = 0; sent < REQUESTS; sent++) {
    const [method, path, { headers = {}, ...options }] = requestOf(client);
    const all = { ...headers, "x-company": tenant };
    const { status, body, text } = await app.send(method, path, { ...options, headers: all });
    const what = `${method} ${path} ${JSON.stringify(options)} ${status}`;
    assert(status < 500, `${what}: ${text}`);
    // A refused request may repeat an identifier of its own body.
    const isRepeated = status === 400;
    if (!isRepeated) answers.add({ tenant, what, text }, body);
  }
}

test("clients of several tenants at once get the entities of their own tenant", async () => {
  await using app = await serveCompanies();
  const answers = new Answers();
  const url = `${app.url}/projects?sort=name&limit=50`;
  const lists = await Promise.all(
    TENANTS.map((tenant) => openLive(url, { "x-company": tenant })),
  );
  await Promise.all(lists.map((list) => list.ready()));
  await Promise.all(
    TENANTS.flatMap((tenant, index) =>
      Array.from({ length: CLIENTS }, (_, each) => {
        const random = new Random(20261203 + index * CLIENTS + each);
        return runClient({ app, tenant, answers, random });
      })
    ),
  );
  for (const [index, tenant] of TENANTS.entries()) {
    const list = lists[index];
    const headers = { "x-company": tenant };
    const { text } = await app.get("/projects?sort=name&limit=50", { headers });
    await until(() => list?.text === text);
    answers.add({ tenant, what: "live", text: list?.wire ?? "" }, undefined);
    await list?.[Symbol.asyncDispose]();
  }
  answers.check();
  await report(
    `tenants together: ${answers.all.length} answers of ${TENANTS.length * CLIENTS} clients`,
  );
});
