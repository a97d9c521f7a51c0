import { assertEquals } from "@std/assert";
import {
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
} from "../../../mod.ts";
import type { Plugin } from "../../../src/plugin/mod.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type EntityBody, type Mounted } from "../../support/support.ts";
import {
  as,
  countOf,
  Person,
  Project,
  recordsOf,
  type Refused,
  serveAll,
  storedOf,
  Task,
} from "./projects.ts";

type Send = (
  app: Mounted,
  id: string,
) => Promise<{ readonly status: number; readonly body: unknown }>;

/** The ways to remove a person. */
const REMOVALS: [string, Send][] = [
  ["remove", (app, id) => app.delete(`/people/${id}`)],
  ["remove with hooks", (app, id) => app.delete(`/hooked/${id}`)],
  ["removeAll", (app, id) => app.delete(`/people${asQuery({ _id: id })}`)],
  ["removeAll with hooks", (app, id) => app.delete(`/hooked${asQuery({ _id: id })}`)],
  ["remove of a part", async (app, id) => {
    const team = await app.created("/teams", { members: [id] });
    return await app.delete(`/teams/${team._id}/members/${id}`);
  }],
  ["removeAll of parts", async (app, id) => {
    const team = await app.created("/teams", { members: [id] });
    return await app.delete(`/teams/${team._id}/members`);
  }],
  ["remove of a single part", async (app, id) => {
    const team = await app.created("/teams", { lead: id });
    return await app.delete(`/teams/${team._id}/lead`);
  }],
];

test("restrict refuses a removal by every way, until no entity refers to the entity", async (t) => {
  await using app = await serveAll();
  for (const [way, send] of REMOVALS) {
    await t.step(way, async () => {
      const { _id } = await app.created("/people", { name: "ann" });
      const project = await app.created("/projects", { owner: _id });
      const { status, body } = await send(app, _id);
      const { code, referredBy } = body as Refused;
      assertEquals([status, code, referredBy], [409, "CONFLICT", ["Project"]]);
      assertEquals((await storedOf(Person, _id))?.name, "ann");
      assertEquals((await recordsOf(Person, _id)).length, 1);
      assertEquals((await app.delete(`/projects/${project._id}`)).status, 204);
      assertEquals(await countOf(Project, { deletedAt: { $ne: null } }) > 0, true);
      for (const { _id: team } of (await app.get<{ _id: string }[]>("/teams")).body) {
        await app.delete(`/teams/${team}`);
      }
      assertEquals((await send(app, _id)).status, 204);
      assertEquals(await storedOf(Person, _id), null);
    });
  }
});

test("entities that are removed together do not restrict each other, and one that stays restricts all", async () => {
  await using app = await serveAll();
  const ids = await Promise.all(
    ["a", "b"].map(async (name) => (await app.created("/people", { name }))._id),
  );
  const project = await app.created("/projects", { owner: ids[1] });
  const { status, body } = await app.delete<Refused>("/people");
  assertEquals([status, body.referredBy], [409, ["Project"]]);
  assertEquals(await countOf(Person), 2);
  await app.patch(`/projects/${project._id}`, { owner: null });
  assertEquals((await app.delete("/people")).status, 204);
  assertEquals(await countOf(Person), 0);
});

test("a class that no route shows counts and is not named", async () => {
  await using app = await serveAll();
  const { _id } = await app.created("/people", { name: "ann" });
  assertEquals((await app.post("/secrets", { about: _id })).status, 201);
  const { status, body } = await app.delete<Refused>(`/people/${_id}`);
  assertEquals([status, body.referredBy], [409, []]);
  await app.created("/teams", { lead: _id });
  assertEquals((await app.delete<Refused>(`/people/${_id}`)).body.referredBy, ["Team"]);
});

@rest({ route: "/witnesses", methods: [create(), remove()] })
class Witness extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({
  route: "/dossiers",
  methods: [create(), one({ preFetch: (req) => req.headers["x-user"] === "keeper" })],
})
class Dossier extends FrameworkModel {
  @prop({ ref: Witness, onDelete: "restrict" })
  about?: Ref<Witness>;
}

test("a class that preFetch hides from the caller counts and is not named", async () => {
  await using app = await serveAll([Witness, Dossier]);
  const { _id } = await app.created("/witnesses", { name: "ann" });
  await app.created("/dossiers", { about: _id });
  for (const [user, names] of [["ann", []], ["keeper", ["Dossier"]]] as const) {
    const { status, body } = await app.delete<Refused>(`/witnesses/${_id}`, as(user));
    assertEquals([status, body.referredBy], [409, names], user);
  }
});

class Page extends FrameworkModel {
  @prop({ ref: Witness, onDelete: "restrict", hidden: (req) => req.headers["x-user"] !== "keeper" })
  about?: Ref<Witness>;
}

@rest({ route: "/binders", methods: [create(), one()] })
class Binder extends FrameworkModel {
  @prop({ ref: Witness, onDelete: "restrict" })
  owner?: Ref<Witness>;
  @arrayProp({ items: Page, embedded: true })
  pages?: Page[];
}

test("a class whose reference is hidden from the caller counts and is not named", async () => {
  await using app = await serveAll([Witness, Binder]);
  const { _id } = await app.created("/witnesses", { name: "ann" });
  await app.created("/binders", { pages: [{ about: _id }] }, as("keeper"));
  const namesFor = async (user: string) =>
    (await app.delete<Refused>(`/witnesses/${_id}`, as(user))).body.referredBy;
  assertEquals([await namesFor("ann"), await namesFor("keeper")], [[], ["Binder"]]);
  await app.created("/binders", { owner: _id });
  assertEquals(await namesFor("ann"), ["Binder"]);
});

test("a class that the guard hides from the caller counts and is not named, and the guard counts no request", async () => {
  const weights: number[] = [];
  await using app = await serveAll([Witness, Dossier], {
    guard: ({ framework, headers }) => {
      if (framework.operation === "one") weights.push(framework.weight);
      return framework.operation !== "one" || headers["x-role"] === "reader";
    },
  });
  const { _id } = await app.created("/witnesses", { name: "ann" });
  await app.created("/dossiers", { about: _id });
  for (const [role, names] of [["none", []], ["reader", ["Dossier"]]] as const) {
    const headers = { "x-user": "keeper", "x-role": role };
    const { status, body } = await app.delete<Refused>(`/witnesses/${_id}`, { headers });
    assertEquals([status, body.referredBy], [409, names], role);
  }
  assertEquals(weights, [0, 0]);
});

test("plugins that are asked for the names set no headers of the refusal", async () => {
  const plugin: Plugin = {
    name: "named",
    async around({ name, setHeader }, next) {
      setHeader("X-Operation", name);
      await next();
    },
  };
  await using app = await serveAll([Witness, Dossier], { plugins: [plugin] });
  const { _id } = await app.created("/witnesses", { name: "ann" });
  await app.created("/dossiers", { about: _id });
  const { headers, body } = await app.delete<Refused>(`/witnesses/${_id}`, as("keeper"));
  assertEquals([headers.get("X-Operation"), body.referredBy], ["witnesses:remove", ["Dossier"]]);
});

test("a class outside of the router counts and is not named", async () => {
  await using app = await serveAll([Person]);
  const { _id } = await app.created("/people", { name: "ann" });
  await getModel(Project).create({ owner: _id } as never);
  const { status, body } = await app.delete<Refused>(`/people/${_id}`);
  assertEquals([status, body.referredBy], [409, []]);
});

test("unset removes the reference at every place, and is a write of the entity", async () => {
  await using app = await serveAll();
  const [a, b] = await Promise.all(["a", "b"].map((name) => app.created("/tags", { name })));
  const tags = [a?._id, b?._id];
  const line = { tag: a?._id, others: tags };
  const body = { main: a?._id, tags, lines: [line, { tag: b?._id, others: tags }], line };
  const task = await app.created("/tasks", body, as("ann"));
  const other = await app.created("/tasks", { main: b?._id }, as("ann"));
  assertEquals((await app.delete(`/tags/${a?._id}`, as("bob"))).status, 204);
  const stored = JSON.parse(JSON.stringify(await storedOf(Task, task._id)));
  assertEquals([stored.main, stored.tags, stored.__v, stored.changedBy], [
    undefined,
    [b?._id],
    6,
    "bob",
  ]);
  assertEquals(
    [...stored.lines, stored.line].map(({ tag, others, by }) => [tag, others, by]),
    [[undefined, [b?._id], "bob"], [b?._id, [b?._id], "bob"], [undefined, [b?._id], "bob"]],
  );
  assertEquals((await storedOf(Task, other._id))?.__v, 0);
  const records = await recordsOf(Task, task._id);
  assertEquals(
    records.map(({ operation, actor }) => [operation, actor]),
    [
      ["create", "ann"],
      ...Array(6).fill(["unset", "bob"]),
    ].slice(0, records.length),
  );
});

@rest({
  route: "/clerks",
  methods: [create(), one(), remove(), removeAll()],
  trash: { see: () => true },
})
class Clerk extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ ref: () => Clerk, onDelete: "restrict" })
  chief?: Ref<Clerk>;
  @prop({ ref: () => Clerk, onDelete: "cascade" })
  teacher?: Ref<Clerk>;
}

test("a restore leaves in the trash what the request has removed by itself, and no cascade", async () => {
  await using app = await serveAll([Clerk]);
  const { _id: teacher } = await app.created("/clerks", { name: "stays" });
  const { _id: chief } = await app.created("/clerks", { name: "goes" });
  const { _id } = await app.created("/clerks", { name: "goes", chief, teacher });
  assertEquals((await app.delete(`/clerks${asQuery({ name: "goes" })}`)).status, 204);
  assertEquals((await app.post(`/clerks/${chief}/restore`)).status, 200);
  assertEquals((await app.get(`/clerks/${_id}`)).status, 404);
});

@rest({ route: "/labels", methods: [create(), one(), remove()], trash: { keep: "1d" } })
class Label extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/parcels", methods: [create(), one(), remove()], history: true, trash: true })
class Parcel extends FrameworkModel {
  @prop({ ref: () => Label, onDelete: "unset" })
  label?: Ref<Label>;
  @arrayProp({ items: () => Label, onDelete: "unset" })
  labels!: Ref<Label>[];
}

test("housekeeping removes references that were set to an entity in the trash", async () => {
  await using app = await serveAll([Label, Parcel]);
  const { _id: label } = await app.created("/labels", { name: "a" });
  await app.delete(`/labels/${label}`);
  const labels = [label];
  const kept = await app.created("/parcels", { label, labels });
  const { _id: removed } = await app.created("/parcels", { label, labels });
  await app.delete(`/parcels/${removed}`);
  const at = new Date(Date.now() + 2 * 24 * 3_600_000);
  assertEquals((await Framework.tidy({ at })).removed, { Label: 1 });
  const { body: { __v, ...others } } = await app.get<EntityBody>(`/parcels/${kept._id}`);
  assertEquals([others, __v], [{ _id: kept._id, labels: [] }, 2]);
  const { body } = await app.get<{ operation: string }[]>(`/parcels/${kept._id}/history`);
  assertEquals(body.map(({ operation }) => operation), ["unset", "unset", "create"]);
  const inTrash = await getModel(Parcel).collection.findOne({ deletedAt: { $ne: null } });
  assertEquals(inTrash?.labels.length, 1);
});
