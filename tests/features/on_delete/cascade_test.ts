import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  create,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type Hidden,
  type ModelClass,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import type { EntityBody, Mounted } from "../../support/support.ts";
import {
  as,
  countOf,
  hookCalls,
  KEEPER,
  MODELS,
  Note,
  Person,
  Project,
  recordsOf,
  type Refused,
  serveAll,
  storedOf,
  Task,
} from "./projects.ts";

/** Creates a project with two tasks, of which the first one has a note. */
async function projectOf(app: Mounted, body: object = {}) {
  const project = await app.created("/projects", body, as("ann"));
  const first = await app.created("/tasks", { project: project._id }, as("ann"));
  const second = await app.created("/tasks", { project: project._id }, as("ann"));
  const note = await app.created("/notes", { task: first._id });
  return { project, first, second, note };
}

test("a cascade removes entities by the rules of their own classes, without their hooks", async () => {
  await using app = await serveAll();
  const { project, first, second } = await projectOf(app);
  const other = await projectOf(app);
  hookCalls.length = 0;
  assertEquals((await app.delete(`/projects/${project._id}`, as("bob"))).status, 204);
  const times = [await storedOf(Project, project._id)];
  for (const { _id } of [first, second]) {
    const stored = await storedOf(Task, _id);
    assertEquals([stored?.deletedBy, stored?.changedBy, stored?.__v], ["bob", "bob", 1]);
    times.push(stored);
    const { operation, actor, changed } = (await recordsOf(Task, _id))[1] ?? {};
    assertEquals([operation, actor, (changed as string[]).includes("deletedAt")], [
      "cascade",
      "bob",
      true,
    ]);
  }
  assertEquals(new Set(times.map((each) => String(each?.deletedAt))).size, 1);
  assertEquals([await countOf(Note), hookCalls], [1, []]);
  assertEquals((await app.get(`/tasks/${other.first._id}`)).status, 200);
});

test("a cascade that meets a restriction does nothing", async () => {
  await using app = await serveAll([...CHAIN, Person]);
  const top = await app.created("/tops", {});
  const middle = await app.created("/middles", { top: top._id });
  const low = await app.created("/lows", { middle: middle._id });
  const { status, body } = await app.delete<Refused>(`/tops/${top._id}`);
  assertEquals([status, body.referredBy], [409, ["Low"]]);
  assertEquals([await countOf(Top), await countOf(Middle), await countOf(Low)], [1, 1, 1]);
  await app.delete(`/lows/${low._id}`);
  assertEquals((await app.delete(`/tops/${top._id}`)).status, 204);
  assertEquals([await countOf(Top), await countOf(Middle)], [0, 0]);
});

@rest({ route: "/tops", methods: [one(), create(), remove()] })
class Top extends FrameworkModel {}

@rest({ route: "/middles", methods: [one(), create(), remove()] })
class Middle extends FrameworkModel {
  @prop({ ref: () => Top, onDelete: "cascade" })
  top?: Ref<Top>;
}

@rest({ route: "/lows", methods: [one(), create(), remove()] })
class Low extends FrameworkModel {
  @prop({ ref: () => Middle, onDelete: "restrict" })
  middle?: Ref<Middle>;
}

const CHAIN: readonly ModelClass[] = [Top, Middle, Low];

@rest({ route: "/lefts", methods: [one(), create(), update(), remove()] })
class Left extends FrameworkModel {
  @prop({ ref: () => Right, onDelete: { cascade: "forGood" } })
  right?: Ref<Right>;
  @prop({ ref: () => Left, onDelete: "cascade" })
  next?: Ref<Left>;
}

@rest({ route: "/rights", methods: [one(), create(), update(), remove()], trash: true })
class Right extends FrameworkModel {
  @prop({ ref: () => Left, onDelete: "cascade" })
  left?: Ref<Left>;
}

test("circles of cascades end, and remove each entity once", async () => {
  await using app = await serveAll([Left, Right]);
  const left = await app.created("/lefts", {});
  const right = await app.created("/rights", { left: left._id });
  await app.patch(`/lefts/${left._id}`, { right: right._id, next: left._id });
  assertEquals((await app.delete(`/rights/${right._id}`)).status, 204);
  assertEquals(await countOf(Left), 0);
  assertEquals((await storedOf(Right, right._id))?.__v, 1);
});

/** Stores tasks of a project, and one of them for a second project. */
async function storeTasks(project: EntityBody, count: number): Promise<void> {
  const _id = new mongoose.Types.ObjectId(project._id);
  const tasks = Array.from({ length: count }, () => ({ project: _id, tags: [], __v: 0 }));
  await getModel(Task).collection.insertMany(tasks);
}

test("a cascade of 1,000 entities passes, and one of 1,001 does nothing", async () => {
  await using app = await serveAll();
  const project = await app.created("/projects", {});
  await storeTasks(project, 1001);
  const { status, body } = await app.delete<Refused>(`/projects/${project._id}`);
  assertEquals([status, body.code, body.limit], [409, "CONFLICT", 1000]);
  assertEquals(await countOf(Task, { deletedAt: null, __v: 0 }), 1001);
  assertEquals((await storedOf(Project, project._id))?.__v, 0);
  await getModel(Task).collection.deleteOne({});
  assertEquals((await app.delete(`/projects/${project._id}`)).status, 204);
  assertEquals(await countOf(Task, { deletedAt: { $ne: null }, __v: 1 }), 1000);
});

test("limits.cascade counts the entities of all classes", async () => {
  await using app = await serveAll(undefined, { limits: { cascade: 3 } });
  const { project, second } = await projectOf(app);
  await app.created("/notes", { task: second._id });
  const { status, body } = await app.delete<Refused>(`/projects/${project._id}`);
  assertEquals([status, body.limit, await countOf(Note)], [409, 3, 2]);
  assertEquals(await countOf(Task, { deletedAt: null }), 2);
  await getModel(Note).collection.deleteOne({});
  assertEquals((await app.delete(`/projects/${project._id}`)).status, 204);
});

test("a restore restores what the same cascade has put into the trash, and no more", async () => {
  await using app = await serveAll();
  const { project, first, second } = await projectOf(app);
  await app.delete(`/tasks/${second._id}`);
  await app.delete(`/projects/${project._id}`, as("bob"));
  const restored = await app.post(`/projects/${project._id}/restore`, undefined, KEEPER);
  assertEquals(restored.status, 200);
  assertEquals((await app.get(`/tasks/${first._id}`)).status, 200);
  assertEquals((await app.get(`/tasks/${second._id}`)).status, 404);
  const stored = await storedOf(Task, first._id);
  assertEquals(["deletedAt" in (stored ?? {}), stored?.__v, stored?.changedBy], [
    false,
    2,
    "keeper",
  ]);
  const records = await recordsOf(Task, first._id);
  assertEquals(records.map(({ operation }) => operation), ["create", "cascade", "restore"]);
});

/** Sets the time of removal of all removed tasks and projects to one millisecond. */
async function removeAtOnce(update: object = {}): Promise<void> {
  const all = { $set: { deletedAt: new Date(0) }, ...update };
  for (const each of [Task, Project]) {
    await getModel(each as typeof Task).collection.updateMany({ deletedAt: { $ne: null } }, all);
  }
}

test("a restore leaves in the trash what another request has removed in the same millisecond", async () => {
  await using app = await serveAll();
  const { project, first, second } = await projectOf(app);
  await app.delete(`/tasks/${second._id}`);
  await app.delete(`/projects/${project._id}`);
  await removeAtOnce();
  const { status, text } = await app.post(`/projects/${project._id}/restore`, undefined, KEEPER);
  assertEquals([status, text.includes("deleted")], [200, false]);
  assertEquals((await app.get(`/tasks/${first._id}`)).status, 200);
  assertEquals((await app.get(`/tasks/${second._id}`)).status, 404);
  for (const stored of [await storedOf(Project, project._id), await storedOf(Task, first._id)]) {
    assertEquals(Object.keys(stored ?? {}).filter((name) => name.startsWith("deleted")), []);
  }
});

test("a cascade of a version without identifiers of removals is restored by its time", async () => {
  await using app = await serveAll();
  const { project, first, second } = await projectOf(app);
  await app.delete(`/projects/${project._id}`);
  await removeAtOnce({ $unset: { deletedWith: 1 } });
  const other = await projectOf(app);
  await app.delete(`/projects/${other.project._id}`);
  await removeAtOnce();
  await getModel(Task).collection.updateOne({ deletedWith: { $exists: true } }, {
    $set: { project: new mongoose.Types.ObjectId(project._id) },
  });
  assertEquals((await app.post(`/projects/${project._id}/restore`, undefined, KEEPER)).status, 200);
  for (const { _id } of [first, second]) {
    assertEquals((await app.get(`/tasks/${_id}`)).status, 200);
  }
  assertEquals(await countOf(Task, { deletedAt: { $ne: null } }), 2);
});

test("no client sees the identifier of a removal", async () => {
  await using app = await serveAll();
  const { project, first } = await projectOf(app);
  await app.delete(`/projects/${project._id}`);
  assertEquals("deletedWith" in (await storedOf(Task, first._id) ?? {}), true);
  const paths = ["", `/${first._id}`, `/${first._id}/history`].map((path) => `/tasks${path}`);
  for (const path of paths) {
    for (const accept of ["application/json", ...path === "/tasks" ? ["text/csv"] : []]) {
      const headers = { ...KEEPER.headers, accept };
      const { status, text } = await app.get(`${path}?trash=only`, { headers });
      assertEquals([path, status, text.includes("deletedWith")], [path, 200, false]);
      assertEquals([path, text.includes("deletedAt")], [path, true]);
    }
  }
  const { status } = await app.get("/tasks?trash=only&q[deletedWith][$exists]=true", KEEPER);
  assertEquals(status, 400);
  const described = Framework.describe({ models: [...MODELS] });
  assertEquals(JSON.stringify(described).includes("deletedWith"), false);
  await app.post(`/projects/${project._id}/restore`, undefined, KEEPER);
  const { text } = await app.get(`/tasks/${first._id}/history`, KEEPER);
  assertEquals(text.includes("deletedWith"), false);
});

const trash = { see: () => true };

@rest({ route: "/firms", methods: [one(), create(), remove()], trash })
class Firm extends FrameworkModel {}

@rest({ route: "/seats", methods: [one(), create(), remove()], trash })
class Seat extends FrameworkModel {
  @prop({ ref: () => Firm, onDelete: "cascade" })
  firm?: Ref<Firm>;
  @prop({ unique: true, sparse: true })
  place?: string;
}

@rest({ route: "/badges", methods: [one(), create({ preSave: issue }), remove()], trash })
class Badge extends FrameworkModel {
  @prop({ ref: () => Seat, onDelete: "restrict", hidden: true })
  holder?: Hidden<Ref<Seat>>;
}

@rest({ route: "/permits", methods: [one(), create(), remove()], trash })
class Permit extends FrameworkModel {
  @prop({
    ref: () => Seat,
    onDelete: "restrict",
    hidden: (req) => req.headers["x-user"] !== "keeper",
  })
  holder?: Ref<Seat>;
}

/** Stores the seat that a header names in a field that no client sees. */
async function issue(req: FrameworkRequest, badge: Entity<Badge>) {
  badge.set("holder", await getModel(Seat).findById(req.headers["x-seat"]));
  return badge;
}

@rest({ route: "/plants", methods: [one(), create(), remove()], trash })
class Plant extends FrameworkModel {
  @prop({ ref: () => Firm, onDelete: "cascade" })
  firm?: Ref<Firm>;
}

@rest({ route: "/shifts", methods: [one(), create(), remove()], trash })
class Shift extends FrameworkModel {
  @prop({ ref: () => Plant, onDelete: "cascade" })
  plant?: Ref<Plant>;
  @prop({ ref: () => Plant, onDelete: "restrict" })
  second?: Ref<Plant>;
  @prop({ ref: () => Seat, onDelete: "restrict" })
  seat?: Ref<Seat>;
}

test("entities of one cascade neither restrict each other nor miss each other when they are restored", async () => {
  await using app = await serveAll([Firm, Seat, Plant, Shift]);
  const firm = (await app.created("/firms", {}))._id;
  const seat = (await app.created("/seats", { firm }))._id;
  const [plant, second] = [
    (await app.created("/plants", { firm }))._id,
    (await app.created("/plants", { firm }))._id,
  ];
  const { _id } = await app.created("/shifts", { plant, second, seat });
  const stays = await app.created("/shifts", { seat });
  const refused = await app.delete<Refused>(`/firms/${firm}`);
  assertEquals([refused.status, refused.body.referredBy], [409, ["Shift"]]);
  await app.delete(`/shifts/${stays._id}`);
  assertEquals((await app.delete(`/firms/${firm}`)).status, 204);
  const paths = [`/seats/${seat}`, `/plants/${plant}`, `/plants/${second}`, `/shifts/${_id}`];
  const statuses = async () => {
    const answers = await Promise.all(paths.map((path) => app.get(path)));
    return answers.map(({ status }) => status);
  };
  assertEquals(await statuses(), [404, 404, 404, 404]);
  assertEquals((await app.post(`/firms/${firm}/restore`)).status, 200);
  assertEquals(await statuses(), [200, 200, 200, 200]);
});

test("a restore is a 409 if the unique value of an entity that comes back is taken", async () => {
  await using app = await serveAll([Firm, Seat]);
  const { _id: firm } = await app.created("/firms", {});
  const seat = await app.created("/seats", { firm, place: "a" });
  await app.delete(`/firms/${firm}`);
  const other = await app.created("/seats", { place: "a" });
  const { status, body } = await app.post<Refused>(`/firms/${firm}/restore`);
  assertEquals([status, body.code], [409, "CONFLICT"]);
  assertEquals(await countOf(Firm, { deletedAt: null }), 0);
  await app.delete(`/seats/${other._id}`);
  assertEquals((await app.post(`/firms/${firm}/restore`)).status, 200);
  assertEquals((await app.get(`/seats/${seat._id}`)).status, 200);
});

test("a restored entity whose hidden reference is gone is a 409 that names no property", async () => {
  await using app = await serveAll([Firm, Seat, Badge]);
  const seat = await app.created("/seats", {});
  const { _id } = await app.created("/badges", {}, { headers: { "x-seat": seat._id } });
  assertEquals((await app.delete(`/seats/${seat._id}`)).status, 409);
  await app.delete(`/badges/${_id}`);
  assertEquals((await app.delete(`/seats/${seat._id}`)).status, 204);
  const { status, text } = await app.post<Refused>(`/badges/${_id}/restore`);
  assertEquals([status, text.includes("holder")], [409, false]);
});

test("a restored entity names its gone reference only to callers who see the field", async () => {
  await using app = await serveAll([Seat, Permit]);
  const seat = await app.created("/seats", {});
  const { _id } = await app.created("/permits", { holder: seat._id }, KEEPER);
  await app.delete(`/permits/${_id}`);
  assertEquals((await app.delete(`/seats/${seat._id}`)).status, 204);
  const restore = (options?: object) =>
    app.post<Refused>(`/permits/${_id}/restore`, undefined, options);
  const [seen, unseen] = [await restore(KEEPER), await restore()];
  assertEquals([seen.status, seen.body.property], [409, "holder"]);
  assertEquals([unseen.status, unseen.text.includes("holder")], [409, false]);
});

test("a restored entity whose reference is gone is a 409 that names the property", async () => {
  await using app = await serveAll();
  const { _id: owner } = await app.created("/people", { name: "ann" });
  const { project, first } = await projectOf(app, { owner });
  await app.delete(`/projects/${project._id}`);
  assertEquals((await app.delete(`/people/${owner}`)).status, 204);
  const restore = (path: string) => app.post<Refused>(`${path}/restore`, undefined, KEEPER);
  const answers = [
    await restore(`/projects/${project._id}`),
    await restore(`/tasks/${first._id}`),
  ];
  assertEquals(answers.map(({ status, body }) => [status, body.code, body.property]), [
    [409, "CONFLICT", "owner"],
    [409, "CONFLICT", "project"],
  ]);
  assertEquals(await countOf(Task, { deletedAt: { $ne: null } }), 2);
  assertEquals((await app.get("/projects")).body, []);
});

@rest({
  route: "/sites",
  methods: [one(), create(), remove(), removeAll()],
  trash,
})
class Site extends FrameworkModel {}

@rest({ route: "/lines", methods: [one(), create(), remove()], trash })
class Route extends FrameworkModel {
  @prop({ ref: () => Site, onDelete: "cascade" })
  from?: Ref<Site>;
  @prop({ ref: () => Site, onDelete: "cascade" })
  to?: Ref<Site>;
}

@rest({ route: "/stops", methods: [one(), create(), remove()], trash })
class Stop extends FrameworkModel {
  @prop({ ref: () => Route, onDelete: "cascade" })
  line?: Ref<Route>;
  @prop({ ref: () => Site, onDelete: "cascade" })
  site?: Ref<Site>;
}

test("an entity that refers to several entities of a removal is restored with the last of them", async () => {
  for (const last of [0, 1]) {
    await using app = await serveAll([Site, Route, Stop]);
    const sites = [await app.created("/sites", {}), await app.created("/sites", {})];
    const [from, to] = sites.map(({ _id }) => _id);
    const { _id: both } = await app.created("/lines", { from, to });
    const { _id: single } = await app.created("/lines", { from: sites[1 - last]?._id });
    const { _id: stop } = await app.created("/stops", { line: both, site: sites[1 - last]?._id });
    assertEquals((await app.delete("/sites")).status, 204);
    const statuses = async () => {
      const paths = [`/lines/${both}`, `/lines/${single}`, `/stops/${stop}`];
      return await Promise.all(paths.map(async (path) => (await app.get(path)).status));
    };
    const restore = async (id: unknown) => (await app.post(`/sites/${id}/restore`)).status;
    assertEquals(await restore(sites[1 - last]?._id), 200);
    assertEquals([last, await statuses()], [last, [404, 200, 404]]);
    assertEquals((await app.post(`/lines/${both}/restore`)).status, 409);
    assertEquals(await restore(sites[last]?._id), 200);
    assertEquals([last, await statuses()], [last, [200, 200, 200]]);
  }
});

@rest({ route: "/trips", methods: [one(), create()], trash })
class Trip extends FrameworkModel {
  @prop({ ref: () => Site, onDelete: "cascade" })
  site?: Ref<Site>;
  @prop({ ref: () => Site, onDelete: "restrict" })
  via?: Ref<Site>;
}

test("an entity that a restriction kept waiting is restored with the last entity of the removal", async () => {
  for (const last of [0, 1]) {
    await using app = await serveAll([Site, Trip]);
    const sites = [await app.created("/sites", {}), await app.created("/sites", {})];
    const [site, via] = sites.map(({ _id }) => _id);
    const { _id } = await app.created("/trips", { site, via });
    assertEquals((await app.delete("/sites")).status, 204);
    const statuses: number[] = [];
    for (const each of [sites[1 - last], sites[last]]) {
      statuses.push((await app.post(`/sites/${each?._id}/restore`)).status);
      statuses.push((await app.get(`/trips/${_id}`)).status);
    }
    assertEquals([last, statuses], [last, [200, 404, 200, 200]]);
  }
});
