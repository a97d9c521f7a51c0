import { assert, assertEquals, assertRejects } from "@std/assert";
import { type ActionAnswer, ApiError, connect } from "@mongrove/mongrove/client";
import type { Json, Resource, Single } from "@mongrove/mongrove/client";
import { action, create, type Entity, FrameworkModel, one, prop, rest } from "../../../mod.ts";
import type { Note, Report } from "../../fixtures/tickets.ts";
import {
  type close,
  type greet,
  Person,
  type report,
  Ticket,
  type touch,
} from "../../fixtures/tickets.ts";
import { test } from "../../harness/testing.ts";
import { expect, type Same } from "../../support/same_type.ts";
import { mount, NOBODY } from "../../support/support.ts";

/** A schema of types: all values are valid. */
class Typed<I, O> {
  readonly "~standard" = {
    version: 1 as const,
    vendor: "test",
    validate: (value: unknown) => ({ value: value as O }),
    types: undefined as { readonly input: I; readonly output: O } | undefined,
  };
}

const postpone = action("postpone", {
  on: "one",
  body: new Typed<{ until: Date }, { until: string }>(),
  answer: new Typed<{ until: string }, { until: string; at?: Date }>(),
  run: (_req, _task: Entity<Task>, { until }) => ({ until }),
});

const drop = action("drop", {
  on: "one",
  run: async (_req, task: Entity<Task>) => {
    task.name = "dropped";
    await task.save();
  },
});

const first = action("first", {
  on: "all",
  method: "GET",
  run: async (_req, { model, filter }) => await model.findOne(filter),
});

const peek = action("peek", { on: "one", method: "GET", run: (_req, task: Entity<Task>) => task });

const rename = action<Task>("rename", {
  on: "one",
  run: async (_req, task) => {
    task.name += "!";
    return await task.save();
  },
});

@rest({ route: "/tasks", methods: [one(), create(), postpone, drop, first, peek, rename] })
class Task extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

/** Serves tickets and tasks, and opens them. */
async function openDesk() {
  const app = await mount([Ticket, Person, Task], { at: "/api" });
  const api = connect(`${app.url}/api`);
  return {
    tickets: api.resource<Ticket>("/tickets"),
    tasks: api.resource<Task>("/tasks"),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return (await assertRejects(() => call, ApiError)).code;
}

test("action() runs an action on an entity, and its answer has an ETag", async () => {
  await using desk = await openDesk();
  const { tickets } = desk;
  const { _id } = await tickets.create({ title: "a" });

  const closed = await tickets.action<typeof close>("close", _id, { reason: "done" });

  assertEquals([closed.state, closed.reason, closed.__v], ["closed", "done", 1]);
  assertEquals(await tickets.one(_id, { known: closed }), closed);
  const again = tickets.action<typeof close>("close", _id, { reason: "done" });
  assertEquals((await assertRejects(() => again, ApiError)).status, 409);
});

test("action() runs an action on all that q selects, by GET", async () => {
  await using desk = await openDesk();
  const { tickets, tasks } = desk;
  for (const title of "abc") await tickets.create({ title });
  const all = await tickets.action<typeof report>("report", undefined, { method: "GET" });
  const some = await tickets.action<typeof report>("report", undefined, {
    ...{ method: "GET", q: { title: { $in: ["a", "b"] } } },
  });
  assertEquals([all, some.open], [{ open: 3 }, 2]);
  const none = await tasks.action<typeof first>("first", undefined, { method: "GET" });
  const { _id } = await tasks.create({ name: "t" });
  const found = await tasks.action<typeof first>("first", undefined, { method: "GET" });
  const peeked = await tasks.action<typeof peek>("peek", _id, undefined, { method: "GET" });
  assertEquals([none, found?.name, peeked], [undefined, "t", found]);
});

test("action() gives the output of a schema, and nothing for 204", async () => {
  await using desk = await openDesk();
  const { tasks } = desk;
  const { _id } = await tasks.create({ name: "t" });
  const { until } = await tasks.action<typeof postpone>("postpone", _id, { until: new Date(0) });
  assertEquals(until, new Date(0).toJSON());
  assertEquals(await tasks.action<typeof drop>("drop", _id), undefined);
  assertEquals((await tasks.one(_id)).name, "dropped");
});

test("action() sends ifMatch, q, headers and a signal as update() does", async () => {
  await using desk = await openDesk();
  const { tickets } = desk;
  const ticket = await tickets.create({ title: "a" });
  await tickets.update(ticket._id, { title: "b" });
  const run = (...[, , options]: Parameters<typeof tickets.update>) =>
    tickets.action<typeof close>("close", ticket._id, { reason: "done" }, options);
  assertEquals(await codeOf(run("", {}, { ifMatch: ticket })), "PRECONDITION_FAILED");
  assertEquals(await codeOf(run("", {}, { q: { title: "a" } })), "NOT_FOUND");
  assertEquals(await codeOf(run("", {}, { headers: { "x-org": "b" } })), "NOT_FOUND");
  const reason = new Error("gone");
  await assertRejects(() => run("", {}, { signal: AbortSignal.abort(reason) }), Error, "gone");
  const now = await tickets.one(ticket._id);
  assertEquals((await run("", {}, { ifMatch: now, q: { title: "b" } })).state, "closed");
});

test("action() gives the errors of its body and of its path", async () => {
  await using desk = await openDesk();
  const { tickets } = desk;
  const { _id } = await tickets.create({ title: "a" });
  const wrong = await assertRejects(
    () => tickets.action<typeof close>("close", _id, { minutes: -1 } as never),
    ApiError,
  );
  assertEquals([wrong.code, Object.keys(wrong.errors).sort()], ["BAD_DATA", ["minutes", "reason"]]);
  const nobody = tickets.action<typeof close>("close", NOBODY, { reason: "done" });
  assertEquals(await codeOf(nobody), "NOT_FOUND");
});

test("action() works on parts, embedded and referenced, lists and single ones", async () => {
  await using desk = await openDesk();
  const { tickets } = desk;
  const { _id } = await tickets.create({ title: "a" });
  const [notes, pinned] = [tickets.part("notes", _id), tickets.part("pinned", _id)];
  const [watchers, owner] = [tickets.part("watchers", _id), tickets.part("owner", _id)];
  const note = await notes.create({ text: "n" });
  await pinned.create({ text: "p" });
  const watcher = await watchers.create({ name: "w" });
  await owner.create({ name: "o" });
  assertEquals((await notes.action<typeof touch>("touch", note._id)).text, "n!");
  assertEquals((await pinned.action<typeof touch>("touch")).text, "p!");
  assertEquals((await watchers.action<typeof greet>("greet", watcher._id)).greeted, 1);
  assertEquals((await owner.action<typeof greet>("greet")).greeted, 1);
  const names = await watchers.action("names", undefined, { method: "GET" });
  assertEquals(names, { names: ["w"] });
});

test("action() needs no type: then it takes any body, and its answer is unknown", async () => {
  await using desk = await openDesk();
  const { tickets } = desk;
  const { _id } = await tickets.create({ title: "a" });
  const answer = await tickets.action("close", _id, { reason: "done" });
  expect<Same<typeof answer, unknown>>();
  const task = await desk.tasks.create({ name: "t" });
  const renamed = await desk.tasks.action<typeof rename>("rename", task._id);
  assertEquals((renamed as Json<Task>).name, "t!");
  assertEquals((answer as Json<Ticket>).state, "closed");
});

/** A client whose requests all fail: how often each one was sent. */
function openNowhere() {
  let count = 0;
  const fail = () => Promise.reject(new TypeError(`Away ${++count}`));
  const api = connect("http://nowhere", { fetch: fail, retry: 2 });
  return { tickets: api.resource<Ticket>("/tickets"), sent: () => count };
}

test("action() by POST is never repeated, by GET it is", async () => {
  const posted = openNowhere();
  const post = () => posted.tickets.action<typeof close>("close", NOBODY, { reason: "done" });
  await assertRejects(post, TypeError, "Away");
  const got = openNowhere();
  const get = () => got.tickets.action<typeof report>("report", undefined, { method: "GET" });
  await assertRejects(get, TypeError, "Away");
  assertEquals([posted.sent(), got.sent()], [1, 3]);
});

/** What JavaScript, or a value without a type, may give in the place of an identifier, a body or options. */
const MISTAKES: Record<string, readonly unknown[]> = {
  "no identifier before a body": [undefined, { reason: "done" }],
  "an entity before a body": [{ _id: NOBODY }, { reason: "done" }],
  "null": [null],
  "an empty identifier": [""],
  "no identifier before a body and options": [undefined, { reason: "done" }, {}],
  "a body of a GET": [NOBODY, {}, { method: "GET" }],
  "an entity as options": [NOBODY, {}, { _id: NOBODY }],
};

for (const [name, args] of Object.entries(MISTAKES)) {
  test(`action() refuses ${name}, and sends nothing`, async () => {
    const { tickets, sent } = openNowhere();
    const run = tickets.action as (name: string, ...args: readonly unknown[]) => Promise<unknown>;
    const error = await assertRejects(() => run("close", ...args), TypeError);
    assert(error.message.startsWith("Cannot "), error.message);
    assertEquals(sent(), 0);
  });
}

expect<Same<ActionAnswer<Ticket, typeof close>, Json<Ticket>>>();
expect<Same<ActionAnswer<Ticket, typeof report>, Omit<Json<Report>, "_id" | "__v">>>();
expect<Same<ActionAnswer<Task, typeof postpone>, { until: string; at?: string }>>();
expect<Same<ActionAnswer<Task, typeof drop>, undefined>>();
expect<Same<ActionAnswer<Task, typeof first>, Json<Task> | undefined>>();
expect<Same<ActionAnswer<Task, typeof peek>, Json<Task>>>();

const mark = action<Note>("mark", { on: "one", run: (_req, note) => note });

/** What compiles on a part, with and without a type. */
export const accepted = (note: Single<Note>): Promise<unknown>[] => [
  note.action("touch"),
  note.action("mark", { any: 1 }, { method: "GET", ifMatch: "*" }),
  note.action<typeof mark>("mark"),
  note.action<typeof mark>("mark", undefined, { q: { text: "a" } }),
];

/** What must not compile. */
export const refused = (
  tickets: Resource<Ticket>,
  tasks: Resource<Task>,
  note: Single<Note>,
): unknown[] => [
  // @ts-expect-error a wrong name
  tickets.action<typeof close>("clsoe", "id", { reason: "done" }),
  // @ts-expect-error a field that the body does not have
  tickets.action<typeof close>("close", "id", { reasons: "done" }),
  // @ts-expect-error a value of another type
  tickets.action<typeof close>("close", "id", { reason: 1 }),
  // @ts-expect-error no body
  tickets.action<typeof close>("close", "id"),
  // @ts-expect-error no identifier
  tickets.action<typeof close>("close", { reason: "done" }),
  // @ts-expect-error an identifier for all
  tickets.action<typeof report>("report", "id", undefined, { method: "GET" }),
  // @ts-expect-error not a POST
  tickets.action<typeof report>("report"),
  // @ts-expect-error not a POST
  tickets.action<typeof report>("report", undefined, {}),
  // @ts-expect-error a GET has no body
  tickets.action<typeof report>("report", {}, { method: "GET" }),
  // @ts-expect-error not a GET
  tickets.action<typeof close>("close", "id", { reason: "done" }, { method: "GET" }),
  // @ts-expect-error a filter of a field that is not there
  tickets.action<typeof close>("close", "id", { reason: "done" }, { q: { titel: "a" } }),
  // @ts-expect-error only an entity has a version
  tickets.action<typeof report>("report", undefined, { method: "GET", ifMatch: "*" }),
  // @ts-expect-error no body is declared
  tasks.action<typeof drop>("drop", "id", { reason: "done" }),
  // @ts-expect-error a body that the schema does not take
  tasks.action<typeof postpone>("postpone", "id", { until: 1 }),
  // @ts-expect-error a single entity has no identifier
  note.action<typeof touch>("touch", "id"),
  // @ts-expect-error a single entity is no list
  note.action<typeof report>("report", undefined, { method: "GET" }),
];
