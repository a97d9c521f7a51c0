import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  type ReadOnly,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount, type Mounted } from "../../support/support.ts";

/** An object with both stamps. */
abstract class Stamped extends FrameworkModel {
  @prop({ stamp: "createdBy" })
  readonly madeBy?: ReadOnly<string>;
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: ReadOnly<string>;
}

class Check extends Stamped {
  @prop({ required: true })
  text!: string;
}

const PART = [all(), one(), create(), update(), remove(), removeAll()];

class Task extends Stamped {
  @prop({ required: true })
  title!: string;
  @rest({ methods: [...PART, updateAll({ fields: ["text"] })] })
  @arrayProp({ items: Check, embedded: true, apart: false })
  checks!: Check[];
}

@rest({ route: "/notes", methods: [all(), one(), update()] })
class Note extends Stamped {
  @prop({ required: true })
  text!: string;
}

@rest({
  route: "/projects",
  methods: [
    all(),
    one(),
    create({ many: 10, formats: ["ndjson"] }),
    update(),
    updateAll({ fields: ["name"] }),
    replace(),
    remove(),
    action("shout", {
      on: "one",
      run: async (_req, project: Entity<Project>) => {
        project.name = project.name.toUpperCase();
        return await project.save();
      },
    }),
  ],
})
@rest({
  route: "/hooked",
  methods: [
    create({ many: 10, preSave: (_req, project) => project }),
    update({ preSave: (_req, project) => project }),
    replace({ preSave: (_req, project) => project }),
    updateAll({ fields: ["name"], preSave: (_req, project) => project }),
  ],
  main: true,
})
class Project extends Stamped {
  @prop({ required: true })
  name!: string;
  @rest({ methods: PART })
  @arrayProp({ items: Task, embedded: true, apart: false })
  tasks!: Task[];
  @rest({ methods: [one(), create(), remove()] })
  @prop({ type: Task, apart: false })
  main?: Task;
  @rest({ methods: [all(), one(), create(), update(), remove()] })
  @arrayProp({ items: Note })
  notes!: Ref<Note>[];
}

const as = (user?: string) => ({ headers: user === undefined ? {} : { "x-user": user } });

async function serve(): Promise<Mounted & { readonly asked: () => number }> {
  let asked = 0;
  const app = await mount([Project, Note], {
    mongo: await sharedReplicaSet(),
    actor: (req) => {
      asked++;
      return req.headers["x-user"] as string | undefined;
    },
  });
  return {
    ...app,
    asked: () => asked,
  };
}

type Stored = Record<string, unknown> & { readonly _id: unknown };

/** The stored stamps of an object, such as `["ann", "bob"]`. */
const stampsOf = (stored: unknown) => {
  const { madeBy, changedBy } = Object(stored) as Record<string, unknown>;
  return [madeBy, changedBy];
};

async function projectAt(id: unknown): Promise<Stored> {
  const _id = new mongoose.Types.ObjectId(String(id));
  return await getModel(Project).collection.findOne({ _id }) as unknown as Stored;
}

/** Returns the stored stamps of a project, of its first task, and of the first check of that task. */
async function allStamps(id: unknown): Promise<unknown[][]> {
  const project = await projectAt(id);
  const [task] = project.tasks as { checks?: unknown[] }[];
  return [stampsOf(project), stampsOf(task), stampsOf(task?.checks?.[0])];
}

const WHOLE = { name: "a", tasks: [{ title: "t", checks: [{ text: "c" }] }] };

/** Creates a project as Ann, whose objects all have her stamps, and returns its identifiers. */
async function create1(app: Mounted, body: object = WHOLE): Promise<[string, string, string]> {
  const { status, body: { _id } } = await app.post("/projects", body, as("ann"));
  assertEquals(status, 201);
  const project = await projectAt(_id);
  const [task] = project.tasks as (Stored & { checks?: Stored[] })[];
  return [String(_id), String(task?._id), String(task?.checks?.[0]?._id)];
}

const ANN = ["ann", "ann"];
const BOB = ["ann", "bob"];
const NEW = ["bob", "bob"];

const anyId = () => new mongoose.Types.ObjectId();

async function createLines({ url }: Mounted): Promise<Response> {
  const reply = await fetch(`${url}/projects`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", "x-user": "bob" },
    body: '{"name":"l"}\n',
  });
  await reply.text();
  return reply;
}

/** The ways to create a project, with its name. */
const CREATIONS: [string, string, (app: Mounted) => Promise<{ status: number }>][] = [
  ["create", "a", (app) => app.post("/projects", { name: "a" }, as("bob"))],
  ["create with parts", "b", (app) => app.post("/projects", { ...WHOLE, name: "b" }, as("bob"))],
  ["create with hooks", "c", (app) => app.post("/hooked", { name: "c" }, as("bob"))],
  ["many", "d", (app) => app.post("/projects", [{ name: "d" }], as("bob"))],
  ["many with hooks", "e", (app) => app.post("/hooked", [{ name: "e" }], as("bob"))],
  ["lines", "l", createLines],
  ["replace", "f", (app) => app.put(`/projects/${anyId()}`, { name: "f" }, as("bob"))],
  ["replace with hooks", "g", (app) => app.put(`/hooked/${anyId()}`, { name: "g" }, as("bob"))],
];

test("a creation writes both stamps, by every way to create", async (t) => {
  await using app = await serve();
  for (const [way, name, send] of CREATIONS) {
    await t.step(way, async () => {
      const { status } = await send(app);
      assertEquals(status < 300, true, String(status));
      const stored = await getModel(Project).collection.findOne({ name });
      assertEquals(stampsOf(stored), NEW);
      for (const task of stored?.tasks ?? []) {
        assertEquals([stampsOf(task), stampsOf(task.checks[0])], [NEW, NEW]);
      }
    });
  }
});

test("a change writes updatedBy, by every way to change", async (t) => {
  await using app = await serve();
  const ways: [string, (id: string) => Promise<{ status: number }>][] = [
    ["update", (id) => app.patch(`/projects/${id}`, { name: "b" }, as("bob"))],
    ["update of nothing", (id) => app.patch(`/projects/${id}`, {}, as("bob"))],
    ["update with hooks", (id) => app.patch(`/hooked/${id}`, { name: "b" }, as("bob"))],
    ["replace", (id) => app.put(`/projects/${id}`, { name: "b" }, as("bob"))],
    ["replace with hooks", (id) => app.put(`/hooked/${id}`, { name: "b" }, as("bob"))],
    ["updateAll", (id) => app.patch(`/projects?q={"_id":"${id}"}`, { name: "b" }, as("bob"))],
    [
      "updateAll with hooks",
      (id) => app.patch(`/hooked?q={"_id":"${id}"}`, { name: "b" }, as("bob")),
    ],
    ["action", (id) => app.post(`/projects/${id}/shout`, undefined, as("bob"))],
  ];
  for (const [way, send] of ways) {
    await t.step(way, async () => {
      const [id] = await create1(app, { name: "a" });
      assertEquals(stampsOf(await projectAt(id)), ANN);
      const { status } = await send(id);
      assertEquals(status < 300, true, String(status));
      assertEquals(stampsOf(await projectAt(id)), BOB);
    });
  }
});

type SendAt = (
  app: Mounted,
  ...ids: [project: string, task: string, check: string]
) => Promise<{ status: number }>;

/** The ways to write a part, with the stamps of the project, of its first task, and of the first check of that. */
const PART_WRITES: [string, SendAt, unknown[][]][] = [
  [
    "create a task",
    (app, id) => app.post(`/projects/${id}/tasks`, { title: "u" }, as("bob")),
    [BOB, ANN, ANN],
  ],
  [
    "update a task",
    (app, id, task) => app.patch(`/projects/${id}/tasks/${task}`, { title: "u" }, as("bob")),
    [BOB, BOB, ANN],
  ],
  [
    "remove a task",
    (app, id, task) => app.delete(`/projects/${id}/tasks/${task}`, as("bob")),
    [BOB, [undefined, undefined], [undefined, undefined]],
  ],
  [
    "create a check",
    (app, id, task) => app.post(`/projects/${id}/tasks/${task}/checks`, { text: "d" }, as("bob")),
    [BOB, ANN, ANN],
  ],
  [
    "update a check",
    (app, id, task, check) =>
      app.patch(`/projects/${id}/tasks/${task}/checks/${check}`, { text: "d" }, as("bob")),
    [BOB, ANN, BOB],
  ],
  [
    "update all checks",
    (app, id, task) =>
      app.patch(`/projects/${id}/tasks/${task}/checks?q={}`, { text: "d" }, as("bob")),
    [BOB, ANN, BOB],
  ],
  [
    "remove all checks",
    (app, id, task) => app.delete(`/projects/${id}/tasks/${task}/checks`, as("bob")),
    [BOB, ANN, [undefined, undefined]],
  ],
  [
    "create the only task",
    (app, id) => app.post(`/projects/${id}/main`, { title: "m" }, as("bob")),
    [BOB, ANN, ANN],
  ],
  [
    "create a note below it",
    (app, id) => app.post(`/projects/${id}/notes`, { text: "n" }, as("bob")),
    [BOB, ANN, ANN],
  ],
];

test("the write of a part is a write of its root", async (t) => {
  await using app = await serve();
  for (const [way, send, expected] of PART_WRITES) {
    await t.step(way, async () => {
      const ids = await create1(app);
      assertEquals(await allStamps(ids[0]), [ANN, ANN, ANN]);
      const { status } = await send(app, ...ids);
      assertEquals(status < 300, true, String(status));
      assertEquals(await allStamps(ids[0]), expected);
    });
  }
  assertEquals(stampsOf(await getModel(Note).collection.findOne({ text: "n" })), NEW);
  const only = await getModel(Project).collection.findOne({ "main.title": "m" });
  assertEquals(stampsOf(only?.main), NEW);
});

test("a body with parts stamps the parts that it adds or changes, and no others", async () => {
  await using app = await serve();
  const [id, task, check] = await create1(app);
  const { body: first } = await app.post(`/projects/${id}/tasks`, { title: "u" }, as("ann"));
  const checks = [{ _id: check, text: "c" }, { text: "new" }];
  const tasks = [{ _id: task, title: "t", checks }, { _id: first._id, title: "u", checks: [] }];
  assertEquals((await app.patch(`/projects/${id}`, { tasks }, as("bob"))).status, 200);
  const stored = await projectAt(id);
  const [changed, same] = stored.tasks as { checks: unknown[] }[];
  assertEquals([stampsOf(stored), stampsOf(changed), stampsOf(same)], [BOB, BOB, ANN]);
  assertEquals(changed?.checks.map(stampsOf), [ANN, NEW]);
  assertEquals(
    (await app.patch(`/projects/${id}`, { main: { title: "m" } }, as("eve"))).status,
    200,
  );
  const { main, ...later } = await projectAt(id);
  assertEquals([stampsOf(main), stampsOf(later)], [["eve", "eve"], ["ann", "eve"]]);
});

test("clients cannot set a stamp, and nobody clears updatedBy alone", async () => {
  await using app = await serve();
  const forged = { madeBy: "eve", changedBy: "eve" };
  const { body } = await app.post("/projects", { name: "a", ...forged }, as("ann"));
  const path = `/projects/${body._id}`;
  assertEquals(stampsOf(body), ANN);
  const bob = await app.patch(path, { name: "b", ...forged }, as("bob"));
  assertEquals(stampsOf(bob.body), BOB);
  const put = await app.put(path, { name: "c", ...forged }, as("bob"));
  assertEquals(stampsOf(put.body), BOB);
  for (
    const send of [
      () => app.patch(path, { name: "d" }, as()),
      () => app.put(path, { name: "e" }, as()),
      () => app.patch(`/projects?q={"_id":"${body._id}"}`, { name: "f" }, as()),
      () => app.patch(`/hooked/${body._id}`, { name: "g" }, as()),
      () => app.put(`/hooked/${body._id}`, { name: "h" }, as()),
      () => app.post(`${path}/tasks`, { title: "i" }, as()),
      () => app.post(`${path}/notes`, { text: "j" }, as()),
    ]
  ) {
    await app.patch(path, { name: "x" }, as("bob"));
    assertEquals(stampsOf(await projectAt(body._id)), BOB);
    assertEquals((await send()).status < 300, true);
    assertEquals(stampsOf(await projectAt(body._id)), ["ann", undefined]);
  }
  const { body: nobody } = await app.post("/projects", { name: "n" }, as());
  assertEquals(stampsOf(nobody), [undefined, undefined]);
});

test("the application is asked for the sender once for each request", async () => {
  await using app = await serve();
  const [id, task] = await create1(app);
  for (
    const send of [
      () => app.get("/projects"),
      () => app.get(`/projects/${id}/tasks/${task}/checks`),
      () => app.patch(`/projects/${id}`, { tasks: [] }, as("bob")),
      () => app.post(`/projects/${id}/tasks`, { title: "x" }, as("bob")),
    ]
  ) {
    const before = app.asked();
    await send();
    assertEquals(app.asked() - before, 1);
  }
});

@rest({ route: "/items", methods: [all(), create(), update()] })
class Item extends FrameworkModel {
  @prop({ type: Number, stamp: "updatedBy" })
  by?: number;
  @prop()
  name?: string;
}

test("an actor that is none, or that does not fit the field, is a 500 and writes nothing", async () => {
  let actor: unknown;
  await using app = await mount([Item], {
    actor: () => {
      if (actor instanceof Error) throw actor;
      return actor as string;
    },
    onError: () => {},
  });
  const { insertedId } = await getModel(Item).collection.insertOne({ name: "a", __v: 0 });
  const wrong = [null, "", true, {}, Promise.resolve("x"), NaN, new Date(), new Error("no"), "ann"];
  for (actor of wrong) {
    const sent = [
      await app.post<ErrorBody>("/items", { name: "b" }),
      await app.patch<ErrorBody>(`/items/${insertedId}`, { name: "b" }),
    ];
    assertEquals(sent.map(({ status, body }) => [status, body.code]), [
      [500, "INTERNAL"],
      [500, "INTERNAL"],
    ], String(actor));
  }
  const stored = await getModel(Item).collection.find({}).toArray();
  assertEquals(stored, [{ _id: insertedId, name: "a", __v: 0 }]);
  actor = 7;
  assertEquals((await app.patch(`/items/${insertedId}`, { name: "c" })).body.by, 7);
});
