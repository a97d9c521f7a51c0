import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  leaveOut,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type MountOptions } from "../../support/support.ts";
import { as, serveHistory } from "./plans.ts";
import { onlyStrict } from "../../support/only_strict.ts";

class Member extends FrameworkModel {
  @prop()
  who?: string;
}

const userOf = ({ headers }: FrameworkRequest) => headers["x-user"];

@rest({
  route: "/shown-in-part",
  methods: [one({
    preFetch(req) {
      req.framework.projection = { pay: 0 };
      return true;
    },
  })],
  history: true,
})
@rest({
  route: "/fetched-in-part",
  methods: [one({ fetch: ({ params: { id } }) => getModel(Job).findById(id).select("-pay") })],
  history: true,
})
@rest({
  route: "/names",
  methods: [one({ fetch: ({ params: { id } }) => getModel(Job).findById(id).select("name") })],
  history: true,
})
@rest({
  route: "/own",
  methods: [one({
    parameters: ["why"],
    postFetch: (req, job) => job.owner === userOf(req) ? job : null,
  })],
  history: true,
})
@rest({
  route: "/left-out",
  methods: [one({
    filter: ["name"],
    preSend: leaveOut(["pay"], ["owner"], (req, { owner }) => owner !== userOf(req)),
  })],
  history: true,
})
@rest({
  route: "/members-only",
  methods: [one({
    filter: ["name"],
    preSend: leaveOut(
      ["pay"],
      ["members"],
      (req, { members }) => !members.some(({ who }) => who === userOf(req)),
    ),
  })],
  history: true,
})
@rest({
  route: "/counted",
  methods: [one({
    async postFetch(_req, job) {
      job.reads = (job.reads ?? 0) + 1;
      await job.save();
      return job;
    },
  })],
  history: true,
})
@rest({ route: "/jobs", methods: [all(), one(), create(), update()], history: true, main: true })
class Job extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  pay?: number;
  @prop()
  owner?: string;
  @prop({ type: Number })
  reads?: number;
  @rest({ methods: [all(), create()] })
  @arrayProp({ items: Member, embedded: true, apart: true })
  members!: Member[];
}

interface ShownRecord {
  readonly version: number;
  readonly changed: readonly string[];
  readonly before: Record<string, unknown>;
}

type Shown = readonly [version: number, changed: string, before: Record<string, unknown>];

/** Serves jobs, one of which was Ann's and is Bob's. Returns a function that reads its history by a route. */
async function serveJobs(options?: MountOptions) {
  const app = await serveHistory([Job], options);
  const { _id } = await app.created("/jobs", { name: "a", pay: 1, owner: "ann" });
  await app.updated(`/jobs/${_id}`, { pay: 2 });
  await app.updated(`/jobs/${_id}`, { name: "b", owner: "bob" });
  await app.updated(`/jobs/${_id}`, { pay: 3 });
  const shown = async (route: string, user: string, query = ""): Promise<Shown[]> => {
    const path = `/${route}/${_id}/history${query}`;
    const list = await app.read<ShownRecord[]>(path, as(user));
    return list.map(({ version, changed, before }) => [version, changed.join(), before]);
  };
  return Object.assign(app, { id: _id, shown });
}

/** The history of the job with the fields that everybody sees. */
const WITHOUT_PAY: Shown[] = [
  [3, "", {}],
  [2, "name,owner", { name: "a", owner: "ann" }],
  [1, "", {}],
  [0, "", {}],
];

test("a history shows no field that one() does not read", async () => {
  await using app = await serveJobs();
  assertEquals(await app.shown("shown-in-part", "bob"), WITHOUT_PAY);
  assertEquals(await app.shown("fetched-in-part", "bob"), WITHOUT_PAY);
  assertEquals(await app.shown("names", "bob"), [
    [3, "", {}],
    [2, "name", { name: "a" }],
    [1, "", {}],
    [0, "", {}],
  ]);
});

test("a history shows no value that the hooks of one() hid in its version or hide now", async () => {
  await using app = await serveJobs();
  assertEquals((await app.get(`/own/${app.id}/history`, as("ann"))).status, 404);
  const own: Shown[] = [[3, "pay", { pay: 2 }], [2, "", {}], [1, "", {}], [0, "", {}]];
  assertEquals(await app.shown("own", "bob"), own);
  // A page begins with the version in which the page before has ended.
  assertEquals(await app.shown("own", "bob", "?after=3"), own.slice(1));
  assertEquals(await app.shown("left-out", "bob"), [
    [3, "pay", { pay: 2 }],
    [2, "name,owner", { name: "a", owner: "ann" }],
    [1, "", {}],
    [0, "", {}],
  ]);
  assertEquals(await app.shown("left-out", "ann"), WITHOUT_PAY);
});

test("hooks decide by the present entity, also about values that one write has replaced together", async () => {
  await using app = await serveJobs();
  await app.updated(`/jobs/${app.id}`, { pay: 4, owner: "eve" });
  assertEquals((await app.shown("left-out", "bob"))[0], [4, "owner", { owner: "bob" }]);
  await app.updated(`/jobs/${app.id}`, { owner: "bob" });
  assertEquals((await app.shown("left-out", "bob"))[1], [4, "pay,owner", {
    pay: 3,
    owner: "bob",
  }]);
});

test("the name of a field that hooks leave out is not shown where it was set first", async () => {
  await using app = await serveJobs();
  const { _id } = await app.created("/jobs", { name: "a", owner: "ann" });
  await app.updated(`/jobs/${_id}`, { pay: 1 });
  const changed = async (user: string) =>
    (await app.read<ShownRecord[]>(`/left-out/${_id}/history`, as(user)))[0]?.changed;
  assertEquals([await changed("ann"), await changed("bob")], [["pay"], []]);
});

test("hooks of a history get the fields that they name, also of other routes", async () => {
  await using app = await serveJobs();
  await app.created(`/jobs/${app.id}/members`, { who: "eve" });
  const [, third] = await app.shown("members-only", "eve");
  assertEquals(third, [3, "pay", { pay: 2 }]);
  assertEquals((await app.shown("members-only", "bob"))[1], [3, "", {}]);
});

test("a hook that saves what it reads stores no earlier value", async () => {
  await using app = await serveJobs();
  assertEquals((await app.shown("counted", "bob")).length, 4);
  const { pay, reads } = await app.read<Job>(`/jobs/${app.id}`);
  assertEquals([pay, reads], [3, 1]);
});

test("a history takes the filters of one() and no others", async () => {
  await using app = await serveJobs();
  const statusOf = async (filter: object) =>
    (await app.get(`/left-out/${app.id}/history${asQuery(filter)}`)).status;
  assertEquals(await statusOf({ name: "b" }), 200);
  assertEquals(await statusOf({ name: "a" }), 404);
  assertEquals(await statusOf({ pay: 3 }), 400);
});

test("a history takes the parameters of one() and those of its pages", async () => {
  await using app = await serveJobs({ strict: onlyStrict("parameters") });
  const path = `/own/${app.id}/history`;
  assertEquals((await app.get(`${path}?why=audit&limit=2`, as("bob"))).status, 200);
  assertEquals((await app.get(`${path}?other=1`, as("bob"))).status, 400);
});

@rest({
  route: "/posters",
  open: true,
  methods: [all(), create(), one({ open: false }), update({ open: false }), remove()],
  history: true,
  trash: { see: () => true },
})
class Poster extends FrameworkModel {
  @prop()
  text?: string;
}

test("the guard of one() and update() is asked for a history, a revert and a restore", async () => {
  await using app = await serveHistory([Poster], { guard: (req) => userOf(req) === "ann" });
  const { _id } = await app.created("/posters", { text: "a" });
  const path = `/posters/${_id}`;
  const send = async (options: object) => [
    (await app.get(path, options)).status,
    (await app.get(`${path}/history`, options)).status,
    (await app.post(`${path}/revert`, { version: 0 }, options)).status,
    (await app.delete(path)).status,
    (await app.post(`${path}/restore`, undefined, options)).status,
  ];
  assertEquals(await send(as("bob")), [403, 403, 403, 204, 403]);
  await app.post(`${path}/restore`, undefined, as("ann"));
  assertEquals(await send(as("ann")), [200, 200, 200, 204, 200]);
});
