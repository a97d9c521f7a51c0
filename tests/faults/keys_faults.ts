import { assertEquals } from "@std/assert";
import type { Connection } from "mongoose";
import { client, type EntityBody } from "../support/client.ts";
import { isLong, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { keyed } from "../features/idempotency/keyed.ts";
import { until } from "../support/until.ts";
import { openApp } from "./support/open_app.ts";
import { pause } from "./support/others.ts";
import { openReplicaSet, restart, signal } from "./support/replica_set.ts";

/** How many clients send the same creation. */
const CLIENTS = 64;

/** How many creations are harmed by each fault. */
const ROUNDS = isLong ? 200 : 4;

/** How many creations one death of the primary harms. */
const AT_ONCE = isLong ? 10 : 4;

/** A creation that is sent again and again. */
interface Creation {
  readonly list: string;
  readonly key: string;
}

/** What clients were told: how often each status, and the identifiers of what was created. */
class Told {
  readonly statuses: Record<number, number> = {};
  readonly ids = new Map<string, Set<string>>();
  readonly wrong: string[] = [];

  /** Sends a creation by many clients, and enters the answers; 0 stands for none. */
  async send(url: string, { list, key, dies }: Creation & { readonly dies?: string }, {
    expected,
    clients = CLIENTS,
  }: { readonly expected: readonly number[]; readonly clients?: number }): Promise<void> {
    const options = keyed(key, dies && { "x-dies": dies });
    await Promise.all(Array.from({ length: clients }, async () => {
      const sent = client(url).post<EntityBody>(list, { key, text: "0" }, options);
      const { status, body, text } = await sent.catch(() => NOTHING);
      this.statuses[status] = (this.statuses[status] ?? 0) + 1;
      if (!expected.includes(status)) this.wrong.push(`${list}: ${status} ${text}`);
      if (status === 201) this.ids.set(key, (this.ids.get(key) ?? new Set()).add(body._id));
    }));
  }

  /**
   * Repeats a creation until it is there: what is under way counts as lost. A process that was killed in a transaction keeps
   * its parent locked until MongoDB ends that, after a minute: 503.
   */
  async repeat(url: string, set: Held, creation: Creation): Promise<void> {
    await this.send(url, creation, { expected: [201, 409, 503] });
    await until(async () => {
      await age(set.connection);
      await this.send(url, creation, { expected: [201, 409, 503] });
      return this.ids.has(creation.key);
    }, { seconds: 90, everyMs: 1000 });
    await this.send(url, creation, { expected: [201], clients: 1 });
  }

  report(): string {
    return Object.entries(this.statuses).map(([status, count]) => `${count} × ${status}`).join();
  }
}

const NOTHING = { status: 0, body: { _id: "" }, text: "" };

interface Held {
  readonly connection: Connection;
}

/** Makes what is under way begin 31 s earlier. */
async function age(connection: Connection): Promise<void> {
  const at = { $subtract: ["$at", 31_000] };
  await connection.collection("mongrove_keys").updateMany({}, [{ $set: { at } }] as never);
}

/** The identifiers of what is stored with a key, and of references to it: the same for a whole reference. */
async function storedOf(connection: Connection, key: string): Promise<string[]> {
  const read = async (name: string, filter: object) => {
    const options = { readConcern: "majority" } as const;
    return await connection.collection(name).find(filter, options).toArray();
  };
  const roots = await read("orders", { key });
  const items = (await read("orders", { "items.key": key }))
    .flatMap((order) => order.items as { key: string; _id: unknown }[])
    .filter((item) => item.key === key);
  const buyers = await read("buyers", { key });
  const named = await read("orders", { buyers: { $in: buyers.map(({ _id }) => _id) } });
  const references = named.flatMap(({ buyers }) => buyers as unknown[]).map(String)
    .filter((id) => buyers.some(({ _id }) => String(_id) === id));
  const ids = [...roots, ...items].map(({ _id }) => String(_id));
  return [
    ...ids,
    ...buyers.map(({ _id }, index) => {
      const isNamed = references.length === buyers.length && references[index] === String(_id);
      return isNamed ? String(_id) : `${_id}, named ${references.length} times`;
    }),
  ];
}

/** What is wrong with what is stored: there is one entity for each creation, the one that clients were told. */
async function wrongOf({ connection }: Held, told: Told, creations: readonly Creation[]) {
  const wrong = [...told.wrong];
  for (const { list, key } of creations) {
    const [stored, ids] = [await storedOf(connection, key), [...told.ids.get(key) ?? []]];
    if (stored.join() !== ids.join() || ids.length !== 1) {
      wrong.push(`${list}: ${stored} is stored, clients were told ${ids}`);
    }
  }
  return wrong;
}

/** Makes creations, each in the next one of the lists. */
async function creationsOf(url: string): Promise<(round: number) => Creation> {
  const { _id } = await client(url).created("/orders", { key: "first", text: "0" });
  const order = `/orders/${_id}`;
  const lists = ["/orders", "/deadly", `${order}/items`, `${order}/buyers`];
  return (round) => ({ list: lists[round % lists.length] ?? "", key: crypto.randomUUID() });
}

test("a key makes one entity while the primary is killed", async () => {
  await using set = await openReplicaSet();
  await using app = await openApp(set.uri);
  const creationOf = await creationsOf(app.url);
  const told = new Told();
  for (let round = 0; round < ROUNDS; round += AT_ONCE) {
    const creations = Array.from({ length: AT_ONCE }, (_, at) => creationOf(round + at));
    const primary = await set.primary();
    const sending = creations.map((each) =>
      told.send(app.url, each, { expected: [201, 409, 503] })
    );
    await pause(Math.random() * 300);
    signal(primary, "SIGKILL");
    await Promise.all(sending);
    await restart(primary);
    await set.whole();
    for (const each of creations) await told.repeat(app.url, set, each);
    assertEquals(await wrongOf(set, told, creations), []);
  }
  assertEquals((await app.state()).failures, []);
  await report(`Keys, the primary is killed, ${ROUNDS} rounds: ${told.report()}`);
});

/** When the application dies: right after the write, right before the answer, or at any time. */
const DEATHS = ["write", "answer", ""];

test("a key makes one entity while the application is killed", async () => {
  await using set = await openReplicaSet();
  let app = await openApp(set.uri);
  const creationOf = await creationsOf(app.url);
  const told = new Told();
  for (let round = 0; round < ROUNDS; round++) {
    const creation = creationOf(round);
    const dies = DEATHS[round % DEATHS.length] ?? "";
    // What needs no documents runs no hooks
    const hasHooks = creation.list !== "/orders" && dies !== "";
    const sending = told.send(app.url, { ...creation, ...hasHooks && { dies } }, {
      expected: [0, 201, 409],
    });
    if (!hasHooks) {
      await pause(Math.random() * 100);
      app.child.kill("SIGKILL");
    }
    await sending;
    await app.child.status;
    app = await openApp(set.uri);
    await told.repeat(app.url, set, creation);
    assertEquals(await wrongOf(set, told, [creation]), []);
  }
  assertEquals((await app.state()).failures, []);
  await app[Symbol.asyncDispose]();
  await report(`Keys, the application is killed, ${ROUNDS} rounds: ${told.report()}`);
});
