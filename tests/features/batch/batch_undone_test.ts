import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  action,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import type { EntityBody } from "../../support/client.ts";
import type { Mounted } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { rows } from "./shop.ts";

let gate: Promise<void> | undefined;
let reached = () => {};

async function hold<T>(_req: unknown, entity: T): Promise<T> {
  if (gate !== undefined) reached();
  await gate;
  return entity;
}

const atSave = { preSave: hold };
const atRead = { postFetch: hold };

const methods = [
  one(),
  create({ many: 10, ...atSave }),
  update(atSave),
  updateAll({ fields: ["text"], ...atSave }),
  replace(atSave),
  remove(atRead),
  removeAll({ max: 10, ...atRead }),
  action("shout", {
    on: "one",
    run: async (req, entity: Entity<Part>) => {
      await hold(req, entity);
      entity.text = "LOUD";
      return await entity.save();
    },
  }),
];

const partMethods = [create(atSave), update(atSave), remove(atRead)];

class Part extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/plain", methods })
class Plain extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: partMethods })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @rest({ methods: [create(atSave), remove(atRead)] })
  @arrayProp({ items: () => Plain })
  links?: Ref<Plain>[];
}

@rest({ route: "/kept", methods, history: true, trash: { see: () => true } })
class Kept extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: partMethods })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @rest({ methods: [create(atSave), remove(atRead)] })
  @arrayProp({ items: () => Kept })
  links?: Ref<Kept>[];
}

@rest({ route: "/owned", methods: [create()] })
class Owned extends FrameworkModel {
  @prop({ ref: () => Plain, onDelete: "cascade" })
  owner?: Ref<Plain>;
}

/** The path, the method and the body of each kind of write. */
const WRITES: readonly (readonly [path: string, method: string, body?: unknown])[] = [
  ["", "POST", { text: "b" }],
  ["", "POST", [{ text: "b" }]],
  ["", "POST", [{ text: "b" }, { text: "c" }]],
  [`?q={"text":"a"}`, "PATCH", { text: "b" }],
  [`?q={"text":"a"}`, "DELETE"],
  ["/:id", "PATCH", { text: "b" }],
  ["/:id", "PUT", { text: "b" }],
  ["/64b64b64b64b64b64b64b64b", "PUT", { text: "b" }],
  ["/:id", "DELETE"],
  ["/:id/shout", "POST", {}],
  ["/:id/parts", "POST", { text: "b" }],
  ["/:id/parts/:part", "PATCH", { text: "b" }],
  ["/:id/parts/:part", "DELETE"],
  ["/:id/links", "POST", { text: "b" }],
  ["/:id/links/:link", "DELETE"],
];

const KEPT_WRITES: typeof WRITES = [
  ["/:id/revert", "POST", { version: 0 }],
  ["/:gone/restore", "POST"],
];

async function stored(): Promise<string> {
  const { db } = mongoose.connection;
  const all = await Promise.all(
    (await db?.collections() ?? []).map(async (each) =>
      [each.collectionName, await each.find().sort({ _id: 1 }).toArray()] as const
    ),
  );
  return JSON.stringify(all.sort(([a], [b]) => a < b ? -1 : 1));
}

async function openTransactions(): Promise<number> {
  const status = await mongoose.connection.db?.command({ serverStatus: 1 });
  return Number(status?.transactions.currentOpen);
}

/** Sends a batch whose client leaves while a hook of its last request waits. */
async function leaveDuring(app: Mounted, requests: unknown): Promise<void> {
  const { promise, resolve: open } = Promise.withResolvers<void>();
  gate = promise;
  const waiting = new Promise<void>((resolve) => reached = resolve);
  const leaving = new AbortController();
  const sent = fetch(`${app.url}/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ requests }),
    signal: leaving.signal,
  }).then((answer) => answer.text()).catch(() => undefined);
  assertEquals(await Promise.race([waiting, sent]), undefined);
  leaving.abort();
  await sent;
  await until(async () => await openTransactions() === 0);
  gate = undefined;
  open();
}

for (const route of ["/plain", "/kept"]) {
  test(`no write of ${route} is stored after its batch was undone`, async () => {
    let hasEnded = false;
    await using app = await mountOnReplicaSet([Plain, Kept, Owned], {
      batch: { path: "/batch", max: 20 },
      onError: () => void (hasEnded = true),
    });
    const { _id: id, parts } = await app.created(route, { text: "z", parts: [{ text: "p" }] });
    const { _id: link } = await app.created(`${route}/${id}/links`, { text: "l" });
    const { _id: gone } = await app.created(route, { text: "g" });
    await app.updated(`${route}/${id}`, { text: "a" });
    await app.delete(`${route}/${gone}`);
    if (route === "/plain") await app.created("/owned", { owner: id });
    const before = await stored();
    const names: Record<string, string> = {
      id,
      link,
      gone,
      part: (parts as EntityBody[])[0]?._id as string,
    };
    for (const [path, method, body] of route === "/plain" ? WRITES : [...WRITES, ...KEPT_WRITES]) {
      const named = path.replaceAll(/:(id|part|link|gone)/g, (_all, name) => `${names[name]}`);
      hasEnded = false;
      await leaveDuring(app, rows(["POST", "/owned", {}], [method, route + named, body]));
      await until(async () => hasEnded || await stored() !== before);
      assertEquals(await stored(), before, `${method} ${path}`);
    }
  });
}
