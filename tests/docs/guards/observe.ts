import { assert, assertEquals, equal } from "@std/assert";
import express from "express";
import mongoose from "mongoose";
import { Framework, type FrameworkRequest, getModel } from "../../../mod.ts";
import { mcp } from "../../../src/mcp/mod.ts";
import { openDatabase } from "../../harness/database.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { start } from "../../support/support.ts";
import { passes, Plan, ran, Step, Tag, Task } from "./models.ts";
import {
  type Caller,
  NOTE,
  OLD,
  PLAN,
  SET,
  STEP,
  TAG,
  TASK,
  TITLE,
  type Way,
  WAYS,
} from "./ways.ts";

const OWNERS = ["task", "note", "tag", "step", "plan"];
const CLASSES = [Task, Tag, Step, Plan];
const SECRET = "hush";
const OTHER = "bell";

const stateOf = (state: string) => `"state":"${state}"`;

const tenant = ({ headers }: FrameworkRequest) => String(headers["x-company"]);

function buildApp() {
  const app = express();
  app.use(express.json());
  app.get("/own", async (req, res) => {
    const { filter, model } = await Framework.queryFor(req, Task);
    res.json(await model.find(filter));
  });
  const options = { models: CLASSES, guard: passes("guard"), tenant, tidy: false };
  app.use("/loose", Framework.initialize({ ...options, strict: { guards: false } }));
  const api = Framework.initialize({ ...options, strict: true, batch: { path: "/batch" } });
  app.use(api);
  app.use("/mcp", mcp(api, { expose: [{ model: Task, operations: ["all", "update"] }] }));
  app.use(Framework.errors({ notFound: true }));
  return { app, routes: api.describe() };
}

/** Stores one entity of each class, in the place of all that is stored. */
async function reset(): Promise<void> {
  const id = (text: string) => new mongoose.Types.ObjectId(text);
  const common = { title: TITLE, secret: SECRET, state: "new", __v: 0 };
  const owned = { ...common, company: "acme" };
  const { db } = mongoose.connection;
  assert(db);
  await Promise.all((await db.collections()).map((each) => each.deleteMany({})));
  const store = (model: typeof CLASSES[number], entity: Record<string, unknown>) =>
    getModel(model).collection.insertOne(entity as never);
  const notes = [{ ...common, _id: id(NOTE), __v: undefined }];
  await store(Task, { ...owned, _id: id(TASK), notes, tags: [id(TAG)] });
  await store(Tag, { ...owned, _id: id(TAG) });
  await store(Step, { ...owned, _id: id(STEP), title: "Step", task: id(TASK) });
  await store(Plan, { ...owned, _id: id(PLAN) });
}

async function stored(): Promise<Record<"all" | "step", string>> {
  const [tasks, tags, step, plans] = await Promise.all(
    CLASSES.map((each) => getModel(each).collection.find().sort({ _id: 1 }).toArray()),
  );
  return { all: JSON.stringify([tasks, tags, step, plans]), step: JSON.stringify(step) };
}

/** A row of the table: a way, and what is known of it. */
export type Row = readonly string[];

/** Sends the requests of all ways as different callers, and returns what ran and what bound them. */
export async function observeWays(): Promise<Row[]> {
  const { app, routes } = buildApp();
  await using _database = await openDatabase(await sharedReplicaSet());
  await Promise.all(CLASSES.map((each) => getModel(each).init()));
  const { url, stop } = await start(app);
  try {
    const known = new Set(WAYS.map(({ route }) => route));
    const all = routes.map(({ method, path }) => `${method} ${path}`);
    const unknown = all.filter((route) => /^\w+ \/tasks/.test(route) && !known.has(route));
    assertEquals(unknown, [], "Routes without a row");
    const rows: Row[] = [];
    for (const way of WAYS) rows.push(await observe(way, url + (way.base ?? "")));
    return merged(rows);
  } finally {
    await stop();
  }
}

/** Makes one row of rows that follow each other and say the same about the same kind. */
function merged(rows: readonly Row[]): Row[] {
  const result: Row[] = [];
  for (const row of rows) {
    const [label = "", ...cells] = row;
    const [above = "", ...others] = result.at(-1) ?? [];
    const [kind = "", name = ""] = label.includes(": `") ? label.split(": ") : ["", label];
    if (equal(cells, others) && above.startsWith(kind)) {
      result[result.length - 1] = [`${above}, ${name}`, ...cells];
    } else result.push(row);
  }
  return result;
}

const INSIDER = { "x-user": "ann", "x-company": "acme" };

/** Sends the request of a way over stored entities that are always the same. */
async function run({ before, send, reached = "all" }: Way, url: string, caller: Partial<Caller>) {
  await reset();
  await before?.({ url, headers: INSIDER, setsState: true });
  const earlier = await stored();
  ran.length = 0;
  const headers = { ...INSIDER, ...caller.headers };
  const text = await send({ url, setsState: true, ...caller, headers });
  const later = await stored();
  return {
    text,
    trail: [...ran],
    isSet: later.all.includes(stateOf(SET)) ||
      earlier.all.includes(stateOf(OLD)) && !later.all.includes(stateOf(OLD)),
    isOther: later.all.includes(`"company":"${OTHER}"`),
    hasReached: text.includes(TITLE) || later[reached] !== earlier[reached],
  };
}

async function observe(way: Way, url: string): Promise<Row> {
  const { label, own } = way;
  const send = (headers: Record<string, string> = {}, setsState = true) =>
    run(way, url, { headers, setsState });
  const { trail, text, isSet, hasReached } = await send();
  assert(hasReached, `${label}: ${text}`);
  const scope: string[] = [];
  for (const owner of OWNERS) {
    if (!(await send({ "x-outside": owner })).hasReached) scope.push(owner);
  }
  const other = await send({ "x-company": OTHER });
  const customer = { "x-role": "customer" };
  const shown = await send(customer, false);
  const hides = !shown.hasReached || text.includes(SECRET) && !shown.text.includes(SECRET);
  const keeps = isSet && !(await send(customer)).isSet;
  assert(other.isOther || !other.hasReached, `${label} reaches another tenant`);
  return [
    label,
    [...guarded(trail), written(trail.filter(isHook).map((name) => name.split(" ")), own)]
      .filter((text) => text !== "").join(", "),
    scope.join(", "),
    [...hides ? ["hidden"] : [], ...keeps ? ["readonly"] : []].join(", "),
  ];
}

const isHook = (name: string) => name !== "guard";

/** Writes how often the guard ran, unless it ran once, or as often as all hooks. */
function guarded(trail: readonly string[]): string[] {
  const count = trail.filter((name) => !isHook(name)).length;
  const half = trail.slice(0, trail.length / 2);
  if (count === 1 || equal([...half, ...half], trail) && trail.length > 0) return [];
  return [["no guard", "", "the guard twice"][count] ?? `the guard ${count} times`];
}

/** Writes what ran: each owner of hooks once for its hooks that run one after another, and what is repeated once. */
function written(trail: readonly string[][], own: string | undefined): string {
  for (let length = 1; length <= trail.length / 2; length++) {
    const block = trail.slice(-length);
    let count = 1;
    const isRepeated = () => {
      const start = trail.length - length * (count + 1);
      return start >= 0 && equal(trail.slice(start, start + length), block);
    };
    while (isRepeated()) count++;
    if (count === 1) continue;
    const before = joined(trail.slice(0, -length * count), own);
    if (before === "") {
      return `${joined(block, own)}, all ${count === 2 ? "twice" : `${count} times`}`;
    }
    return `${before}, and for each version ${joined(block, own)}`;
  }
  return joined(trail, own);
}

function joined(trail: readonly string[][], own: string | undefined): string {
  let last = "";
  return trail.map(([owner = "", hook]) => {
    if (hook === undefined) return `\`${owner}\``;
    const name = owner === own ? "own" : `\`${owner.replace(/^Tag\..*/, "Tag")}\``;
    const text = owner === last ? hook : `${name} ${hook}`;
    last = owner;
    return text;
  }).join(", ");
}
