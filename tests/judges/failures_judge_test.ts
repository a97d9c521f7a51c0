import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../mod.ts";
import type { Reply } from "../harness/request.ts";
import { isLong } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { asQuery, mount, type Mounted, NOBODY } from "../support/support.ts";
import { buildItems, Kept } from "./failures/items.ts";

const batch = { path: "/batch" };
const MODELS = { plain: buildItems("/plain", false), hooked: buildItems("/hooked", true) };
const COMMANDS = ["insert", "update", "findAndModify", "delete"];

interface Case {
  readonly app: Mounted;
  /** The path of the entity, and those of its parts. */
  readonly path: string;
  readonly card: string;
  readonly person: string;
  readonly body: object;
  readonly headers: Record<string, string>;
}

const queryOf = (path: string) => {
  const [, route, _id] = path.split("/");
  return `/${route}${asQuery({ _id })}`;
};
const routeOf = (path: string) => path.split("/").slice(0, 2).join("/");

type Send = (given: Case) => Promise<Reply>;

/** The writes of an entity that is there, and of a new one. */
const OPERATIONS: Readonly<Record<string, Send>> = {
  create: ({ app, path, body, headers }) => app.post(routeOf(path), body, { headers }),
  createMany: ({ app, path, body, headers }) => app.post(routeOf(path), [{}, body], { headers }),
  line: ({ app, path, body, headers }) =>
    app.send("POST", routeOf(path), {
      raw: `${JSON.stringify(body)}\n`,
      headers: { ...headers, "content-type": "application/x-ndjson" },
    }),
  update: ({ app, path, body, headers }) => app.patch(path, body, { headers }),
  replace: ({ app, path, body, headers }) => app.put(path, body, { headers }),
  remove: ({ app, path, headers }) => app.delete(path, { headers }),
  updateAll: ({ app, path, body, headers }) => app.patch(queryOf(path), body, { headers }),
  removeAll: ({ app, path, headers }) => app.delete(queryOf(path), { headers }),
  action: ({ app, path, headers }) => app.post(`${path}/touch`, undefined, { headers }),
  partCreate: ({ app, path, body, headers }) => app.post(`${path}/cards`, body, { headers }),
  partUpdate: ({ app, card, body, headers }) => app.patch(card, body, { headers }),
  partRemove: ({ app, card, headers }) => app.delete(card, { headers }),
  onlyCreate: ({ app, path, body, headers }) => app.post(`${path}/lid`, body, { headers }),
  onlyUpdate: ({ app, path, body, headers }) => app.patch(`${path}/lid`, body, { headers }),
  onlyRemove: ({ app, path, headers }) => app.delete(`${path}/lid`, { headers }),
  referenceCreate: ({ app, path, body, headers }) => app.post(`${path}/people`, body, { headers }),
  referenceUpdate: ({ app, person, body, headers }) => app.patch(person, body, { headers }),
  referenceRemove: ({ app, person, headers }) => app.delete(person, { headers }),
  batch({ app, path, body, headers: { "if-match": tag } }) {
    const headers = tag === undefined ? {} : { "if-match": tag };
    return app.post("/batch", { requests: [{ id: "r", method: "PATCH", path, body, headers }] });
  },
};

const OF_KEPT: Readonly<Record<string, Send>> = {
  keptUpdate: ({ app, path, body, headers }) => app.patch(path, body, { headers }),
  keptRemove: ({ app, path, headers }) => app.delete(path, { headers }),
  revert: ({ app, path, headers }) => app.post(`${path}/revert`, { version: 0 }, { headers }),
  restore: ({ app, path, headers }) => app.post(`${path}/restore`, undefined, { headers }),
};

/** The paths whose tags are sent: of the entity that each write names. */
const TAGGED: Readonly<Record<string, (given: Case) => string>> = {
  ...Object.fromEntries(
    ["update", "replace", "remove", "action", "batch", "keptUpdate", "keptRemove", "revert"]
      .map((name) => [name, ({ path }: Case) => path]),
  ),
  partUpdate: ({ card }) => card,
  partRemove: ({ card }) => card,
  onlyUpdate: ({ path }) => `${path}/lid`,
  onlyRemove: ({ path }) => `${path}/lid`,
  referenceUpdate: ({ person }) => person,
  referenceRemove: ({ person }) => person,
};

interface Failure {
  readonly body?: object;
  readonly headers?: Record<string, string>;
  readonly isMissing?: boolean;
  /** The stored values of the entity that another writer has set after the client has read its tag. */
  readonly stored?: object;
  readonly code?: number;
  readonly labels?: readonly string[];
}

const FAILURES: Readonly<Record<string, Failure>> = {
  missing: { isMissing: true },
  outOfReach: { stored: { owner: "other", "cards.0.owner": "other", "lid.owner": "other" } },
  leavesScope: { body: { owner: "other" }, headers: { "x-leaves": "1" } },
  duplicate: { body: { code: "taken" } },
  stale: { stored: { __v: 7 } },
  changed: { headers: { "x-other": "changes" } },
  removed: { headers: { "x-other": "removes" } },
  clash: { code: 28 },
  refusedData: { code: 17262 },
  largeEntity: { code: 10334 },
  largeTransaction: { code: 257 },
  late: { code: 50 },
  outage: { code: 11601 },
  overload: { code: 462, labels: ["SystemOverloadedError"] },
};

/** Stores what a write finds: an entity, one that is in the trash, or one with an earlier version. */
async function store(
  app: Mounted,
  base: string,
  operation: string,
): Promise<Omit<Case, "body" | "headers">> {
  const part = () => ({ _id: new mongoose.Types.ObjectId(), owner: "me", tags: ["a"] });
  if (base === "kept") {
    const { _id } = await app.created("/kept", { tags: ["a"] });
    const path = `/kept/${_id}`;
    if (operation === "revert") await app.updated(path, { tags: ["b"] });
    if (operation === "restore") await app.delete(path);
    return { app, path, card: "", person: "" };
  }
  const model = getModel(MODELS[base as "plain"]);
  const [item, card, person] = [part(), part(), part()];
  const lid = operation === "onlyCreate" ? {} : { lid: part() };
  await model.collection.insertOne({
    ...item,
    cards: [card],
    people: [person._id],
    ...lid,
    __v: 0,
  });
  await app.database.connection.collection(base === "plain" ? "people" : "hookedpeople").insertOne({
    ...person,
    __v: 0,
  });
  const path = `/${base}/${item._id}`;
  return { app, path, card: `${path}/cards/${card._id}`, person: `${path}/people/${person._id}` };
}

/** Answers of writes that failed, and the writes that got them; `+tag` has an `If-Match`, `+hook` a hook. */
async function answersTo(app: Mounted, failure: Failure): Promise<Record<string, string>> {
  const answers: Record<string, string[]> = {};
  const admin = app.database.connection.getClient().db("admin");
  const failPoint = (mode: string | object, data?: object) =>
    admin.command({ configureFailPoint: "failCommand", mode, ...data && { data } });
  for (const base of ["plain", "hooked", "kept"]) {
    for (const [name, send] of Object.entries(base === "kept" ? OF_KEPT : OPERATIONS)) {
      for (const isTagged of name in TAGGED ? [false, true] : [false]) {
        const stored = await store(app, base, name);
        const { body = {}, headers = {}, code, labels } = failure;
        const given: Case = { ...stored, body: { tags: ["b"], ...body }, headers: { ...headers } };
        if (isTagged) {
          const tag = (await app.get(TAGGED[name]?.(given) ?? "")).headers.get("etag");
          given.headers["if-match"] = tag ?? "none";
        }
        const [, , _id] = stored.path.split("/");
        const model = getModel(base === "kept" ? Kept : MODELS[base as "plain"]);
        const $set = failure.stored;
        if ($set) {
          await model.collection.updateOne({ _id: new mongoose.Types.ObjectId(_id) }, { $set });
        }
        const named = (path: string) =>
          failure.isMissing ? path.replace(/[0-9a-f]{24}$/, NOBODY) : path;
        const { path, card, person } = stored;
        if (code !== undefined) {
          const errors = { errorCode: code, ...labels && { errorLabels: labels } };
          await failPoint({ times: 2 }, { failCommands: COMMANDS, ...errors });
        }
        const { status, text, headers: told } = await send({
          ...given,
          path: named(path),
          card: named(card),
          person: named(person),
        });
        if (code !== undefined) await failPoint("off");
        if (status < 300 && status !== 207 || status === 207 && text.includes(`"status":201`)) {
          continue;
        }
        const after = told.get("retry-after");
        const answer = `${status} ${text.trim()}${after === null ? "" : ` after ${after} s`}`;
        const shown = `${name}${base === "hooked" ? "+hook" : ""}${isTagged ? "+tag" : ""}`;
        (answers[answer] ??= []).push(shown);
      }
    }
  }
  return Object.fromEntries(
    Object.entries(answers).map(([answer, all]) => [answer, all.join(" ")]),
  );
}

const TABLE = new URL("failures/table.json", import.meta.url);

test("each failure of each write is answered as the table says", async (t) => {
  await using app = await mount([...Object.values(MODELS), Kept], {
    mongo: await sharedReplicaSet(),
    batch,
    limits: { timeMS: 5000 },
    onError: () => {},
  });
  for (const model of [...Object.values(MODELS), Kept]) await getModel(model).init();
  for (const route of ["plain", "hooked", "kept"]) {
    await app.created(`/${route}`, { code: "taken" });
  }
  const expected = JSON.parse(await Deno.readTextFile(TABLE));
  const failures = Object.entries(FAILURES).filter((_, at) => isLong || at % 3 === 0);
  for (const [name, failure] of failures) {
    await t.step(name, async () => assertEquals(await answersTo(app, failure), expected[name]));
  }
});
