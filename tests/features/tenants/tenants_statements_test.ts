import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { test } from "../../harness/testing.ts";
import type { Mounted } from "../../support/support.ts";
import { ACME, of, serveCompanies } from "./companies.ts";

type Command = Record<string, unknown>;

/** The filters and new documents of a command, each of which must name the tenant. */
function partsOf(command: Command): unknown[] {
  const { filter, query, documents, updates, deletes, pipeline } = command as Record<string, never>;
  const lists = [documents, updates, deletes] as (Command[] | undefined)[];
  const named = lists.flatMap((list) => list ?? []).map((each) => each.q ?? each);
  const [first] = (pipeline ?? []) as Command[];
  const matched = first === undefined ? [] : [first.$match ?? first];
  return [...[filter, query].filter((each) => each !== undefined), ...named, ...matched];
}

/** Whether a filter binds the tenant's field by equality, at its top or below `$and`. */
function namesTenant(filter: unknown): boolean {
  const { company, $and = [] } = Object(filter) as { company?: unknown; $and?: unknown[] };
  const value = Object(company).$eq ?? company;
  return String(value) === ACME || $and.some(namesTenant);
}

/** The collections whose class has a tenant. */
const BOUND = new Set(["projects", "notes"]);

const NAMES = [
  "find",
  "aggregate",
  "count",
  "insert",
  "update",
  "delete",
  "findAndModify",
  "distinct",
];

/** Collects the commands on collections with tenants that do not name the tenant, while something runs. */
async function unboundOf(send: () => Promise<unknown>): Promise<string[]> {
  const unbound: string[] = [];
  let bound = 0;
  const client = mongoose.connection.getClient();
  const listen = ({ command, commandName }: { command: Command; commandName: string }) => {
    if (!NAMES.includes(commandName) || !BOUND.has(String(command[commandName]))) return;
    const parts = partsOf(command);
    bound++;
    if (parts.length > 0 && parts.every(namesTenant)) return;
    unbound.push(`${commandName} ${JSON.stringify(parts)}`);
  };
  client.on("commandStarted", listen as never);
  await send();
  client.off("commandStarted", listen as never);
  return bound === 0 ? ["no command at all"] : unbound;
}

interface Made {
  readonly path: string;
  readonly task: string;
  readonly note: string;
}

async function createAll(app: Mounted): Promise<Made> {
  const body = { name: "a", code: "x", tasks: [{ title: "t" }] };
  const made = await app.created("/projects", body, of(ACME));
  const note = await app.created(`/projects/${made._id}/notes`, { text: "n" }, of(ACME));
  const [task] = made.tasks as { _id: string }[];
  const path = `/projects/${made._id}`;
  return { path, task: `${path}/tasks/${task?._id}`, note: `${path}/notes/${note._id}` };
}

type Send = (
  app: Mounted,
  made: Made,
) => Promise<{ readonly status: number; readonly text: string }>;

const BY = of(ACME);

const READS: [string, Send][] = [
  ["list", (app) => app.get('/projects?sort=name&search=a&q={"hours":{"$exists":false}}', BY)],
  ["groups", (app) => app.get("/projects?group=state", BY)],
  ["populated list", (app) => app.get("/projects?populate=notes,next", BY)],
  ["one", (app, { path }) => app.get(path, BY)],
  ["parts", (app, { path }) => app.get(`${path}/tasks`, BY)],
  ["part", (app, { task }) => app.get(task, BY)],
  ["references", (app, { path }) => app.get(`${path}/notes`, BY)],
  ["reference", (app, { note }) => app.get(note, BY)],
];

const WRITES: [string, Send][] = [
  ["create", (app) => app.post("/projects", { name: "b" }, BY)],
  ["many", (app) => app.post("/projects", [{ name: "b" }, { name: "c" }], BY)],
  ["create with hooks", (app) => app.post("/hooked", { name: "b" }, BY)],
  ["update", (app, { path }) => app.patch(path, { name: "d" }, BY)],
  ["update of a list", (app, { path }) => app.patch(path, { tasks: [{ title: "u" }] }, BY)],
  ["reference set", (app, { path, note }) => app.patch(path, { notes: [note.slice(-24)] }, BY)],
  [
    "update with hooks",
    (app, { path }) => app.patch(path.replace("projects", "hooked"), { name: "e" }, BY),
  ],
  ["updateAll", (app) => app.patch("/projects?q={}", { state: "done" }, BY)],
  ["updateAll with hooks", (app) => app.patch("/hooked?q={}", { state: "open" }, BY)],
  ["replace", (app, { path }) => app.put(path, { name: "f" }, BY)],
  ["replace by a key", (app) => app.put("/keyed/x", { name: "g" }, BY)],
  ["action", (app, { path }) => app.post(`${path}/shout`, {}, BY)],
];

const PARTS: [string, Send][] = [
  ["part created", (app, { path }) => app.post(`${path}/tasks`, { title: "v" }, BY)],
  ["part changed", (app, { task }) => app.patch(task, { title: "w" }, BY)],
  ["part removed", (app, { task }) => app.delete(task, BY)],
  ["reference created", (app, { path }) => app.post(`${path}/notes`, { text: "o" }, BY)],
  ["reference changed", (app, { note }) => app.patch(note, { text: "p" }, BY)],
  ["reference removed", (app, { note }) => app.delete(note, BY)],
  ["remove with hooks", (app, { path }) => app.delete(path.replace("projects", "hooked"), BY)],
  ["remove", (app, { path }) => app.delete(path, BY)],
  ["removeAll", (app) => app.delete("/projects", BY)],
];

test("every statement of a class with a tenant names the tenant by equality", async (t) => {
  await using app = await serveCompanies();
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri, { monitorCommands: true });
  for (const [way, send] of [...READS, ...WRITES, ...PARTS]) {
    await t.step(way, async () => {
      const made = await createAll(app);
      const sent: { status: number; text: string }[] = [];
      const unbound = await unboundOf(async () => sent.push(await send(app, made)));
      assertEquals(sent[0] !== undefined && sent[0].status < 300, true, sent[0]?.text);
      assertEquals(unbound, []);
      await app.delete("/hooked", BY);
    });
  }
});
