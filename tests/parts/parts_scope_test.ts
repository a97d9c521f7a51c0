import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  type RestOptions,
  update,
} from "../../mod.ts";
import { watchCommands } from "../support/both_paths.ts";
import { FOUR, SIX } from "../fixtures/operations.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount } from "../support/support.ts";

/** Hooks that let everything pass, and ask for documents. */
const pass = { preSave: (_req: FrameworkRequest, entity: object) => entity };
const HOOKED = [all(), one(), create(pass), update(pass), remove(pass), removeAll(pass)];

class Meta extends FrameworkModel {
  @prop()
  tenant?: string;
  @prop()
  note?: string;
}

class Person extends FrameworkModel {
  @prop()
  user?: string;
}

class Member extends FrameworkModel {
  @prop()
  user?: string;
  @prop()
  note?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: Meta, embedded: true })
  metas?: Meta[];
}

class Fields extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: FOUR })
  @prop({ type: Meta })
  meta?: Meta;
  @rest({ route: "/members", methods: SIX })
  @rest({ route: "/hooked", methods: HOOKED })
  @arrayProp({ items: Member, embedded: true })
  members?: Member[];
  @rest({ methods: HOOKED })
  @arrayProp({ items: Person })
  people?: Ref<Person>[];
}

/** Makes a model of its own with a scope. */
function scoped(
  scope: NonNullable<RestOptions["scope"]>,
  options: Partial<Pick<RestOptions, "getConnection">> = {},
): ModelClass<Fields> {
  const collection = `scoped_${crypto.randomUUID().slice(0, 8)}`;
  @rest({
    route: "/docs",
    methods: [one()],
    scope,
    ...options,
    schemaOptions: { collection, autoCreate: false, autoIndex: false },
  })
  class Scoped extends Fields {}
  return Scoped;
}

/** A stored document, and where it is served. */
interface Put {
  readonly doc: Entity<Fields>;
  readonly at: string;
  readonly ids: readonly string[];
  readonly stored: () => Promise<Record<string, unknown> | null>;
}

async function put(model: ModelClass<Fields>, fields: object): Promise<Put> {
  const doc = await getModel(model).create(fields) as Entity<Fields>;
  const { _id } = doc;
  return {
    doc,
    at: `/docs/${_id}`,
    ids: (doc.members ?? []).map((member) => String(member._id)),
    stored: () => getModel(model).collection.findOne({ _id }),
  };
}

/** Sends requests one after the other, and gives their statuses and whether anything was written. */
async function tell({ stored }: Put, calls: (() => Promise<{ status: number }>)[]) {
  const before = JSON.stringify(await stored());
  const statuses: number[] = [];
  for (const call of calls) statuses.push((await call()).status);
  return [statuses, JSON.stringify(await stored()) === before ? "same" : "written"];
}

test("scope keeps the root in it when a single part is changed or removed", async () => {
  const model = scoped(() => ({ "meta.tenant": "A" }));
  await using app = await mount([model]);
  const given = await put(model, { meta: { tenant: "A", note: "n" } });
  const { at } = given;
  const told = await tell(given, [
    () => app.patch(`${at}/meta`, { tenant: "B" }),
    () => app.patch(`${at}/meta`, { tenant: null }),
    () => app.delete(`${at}/meta`),
  ]);
  assertEquals(told, [[403, 403, 403], "same"]);
  assertEquals((await app.patch(`${at}/meta`, { note: "m" })).status, 200);
  assertEquals((await app.patch(`${at}/meta`, { tenant: "A", note: "o" })).status, 200);
});

test("scope keeps the root in it when elements are changed or removed", async () => {
  for (const route of ["members", "hooked"]) {
    const model = scoped(() => ({ "members.user": "me" }));
    await using app = await mount([model]);
    const given = await put(model, { members: [{ user: "me" }, { user: "you" }] });
    const { at, ids: [mine, yours] } = given;
    const told = await tell(given, [
      () => app.patch(`${at}/${route}/${mine}`, { user: "you" }),
      () => app.delete(`${at}/${route}/${mine}`),
      () => app.delete(`${at}/${route}`),
      () => app.delete(`${at}/${route}${asQuery({ user: "me" })}`),
    ]);
    assertEquals([route, ...told], [route, [403, 403, 403, 403], "same"]);
    const statuses = [
      await app.patch(`${at}/${route}/${mine}`, { note: "n" }),
      await app.post(`${at}/${route}`, { user: "third" }),
      await app.delete(`${at}/${route}/${yours}`),
      await app.delete(`${at}/${route}${asQuery({ user: "third" })}`),
    ].map(({ status }) => status);
    assertEquals(statuses, [200, 201, 204, 204]);
    assertEquals((await app.get<EntityBody[]>(`${at}/${route}`)).body.length, 1);
  }
});

test("scope keeps the root in it when a part is created", async () => {
  const model = scoped(() => ({ "members.1": { $exists: false }, "meta.tenant": { $ne: "B" } }));
  await using app = await mount([model]);
  const given = await put(model, { members: [{ user: "a" }] });
  const told = await tell(given, [
    () => app.post(`${given.at}/members`, { user: "b" }),
    () => app.post(`${given.at}/hooked`, { user: "b" }),
    () => app.post(`${given.at}/meta`, { tenant: "B" }),
  ]);
  assertEquals(told, [[403, 403, 403], "same"]);
  assertEquals((await app.post(`${given.at}/meta`, { tenant: "C" })).status, 201);
});

test("scope keeps the root in it when a part inside a part is changed", async () => {
  const model = scoped(() => ({ "members.metas.tenant": "A" }));
  await using app = await mount([model]);
  const given = await put(model, { members: [{ metas: [{ tenant: "A" }] }] });
  const { metas = [] } = given.doc.members?.[0] as Member;
  const at = `${given.at}/members/${given.ids[0]}/metas`;
  const told = await tell(given, [
    () => app.patch(`${at}/${metas[0]?._id}`, { tenant: "B" }),
    () => app.delete(`${at}/${metas[0]?._id}`),
    () => app.delete(at),
  ]);
  assertEquals(told, [[403, 403, 403], "same"]);
});

test("scope of a level on the way binds what is changed below it", async () => {
  @rest({ route: "/teams", methods: [one()] })
  class Team extends FrameworkModel {
    @rest({ methods: [one()], scope: () => ({ "metas.tenant": "A" }) })
    @arrayProp({ items: Member, embedded: true, apart: false })
    members?: Member[];
  }
  await using app = await mount([Team]);
  const team = await getModel(Team).create({ members: [{ metas: [{ tenant: "A" }] }] } as never);
  const [member] = (team as unknown as Team).members as [Member];
  const at = `/teams/${team._id}/members/${member._id}/metas`;
  const statuses = [
    await app.patch(`${at}/${member.metas?.[0]?._id}`, { tenant: "B" }),
    await app.delete(at),
    await app.patch(`${at}/${member.metas?.[0]?._id}`, { note: "n" }),
    await app.post(at, { tenant: "B" }),
  ].map(({ status }) => status);
  assertEquals(statuses, [403, 403, 200, 201]);
});

test("scope keeps the root in it when references are linked and unlinked", async () => {
  const held = new mongoose.Types.ObjectId();
  const model = scoped(() => ({ people: held, "people.2": { $exists: false } }));
  await using app = await mount([model]);
  const person = await getModel(Person).create({ _id: held, user: "me" } as never);
  const other = await getModel(Person).create({ user: "you" });
  const given = await put(model, { people: [person._id, other._id] });
  const told = await tell(given, [
    () => app.delete(`${given.at}/people/${held}`),
    () => app.delete(`${given.at}/people`),
    () => app.post(`${given.at}/people`, { user: "third" }),
  ]);
  assertEquals(told, [[403, 403, 403], "same"]);
  assertEquals(await getModel(Person).countDocuments(), 2);
  assertEquals((await app.delete(`${given.at}/people/${other._id}`)).status, 204);
  assertEquals(await getModel(Person).countDocuments(), 1);
});

test("scope keeps the root in it when references are linked in a transaction", async () => {
  const mongo = await sharedReplicaSet();
  const connection = await mongoose.createConnection(mongo).asPromise();
  const held = new mongoose.Types.ObjectId();
  const scope = () => ({ people: held, "people.4": { $exists: false } });
  const model = scoped(scope, { getConnection: () => connection });
  await using app = await mount([model]);
  const people = getModel(Person, connection);
  await people.create([{ _id: held }, { user: "you" }] as never);
  const ids = (await people.find().sort({ user: 1 })).map(({ _id }) => _id);
  const { _id } = await getModel(model, connection).create({ people: ids } as never);
  const at = `/docs/${_id}/people`;
  const statuses = [await app.delete(`${at}/${held}`), await app.delete(at)].map(({ status }) =>
    status
  );
  const replies = await Promise.all([1, 2, 3, 4].map(() => app.post(at, { user: "third" })));
  statuses.push(...replies.map(({ status }) => status).sort());
  assertEquals(statuses, [403, 403, 201, 201, 403, 403]);
  assertEquals(await people.countDocuments(), 4);
  await connection.close();
});

test("scope that reads the whole document binds what is written through parts", async () => {
  const model = scoped(() => ({ $expr: { $gte: [{ $size: "$members" }, 2] } }));
  await using app = await mount([model]);
  const given = await put(model, { members: [{ user: "a" }, { user: "b" }] });
  const told = await tell(given, [
    () => app.delete(`${given.at}/members/${given.ids[0]}`),
    () => app.delete(`${given.at}/hooked/${given.ids[0]}`),
    () => app.delete(`${given.at}/members`),
  ]);
  assertEquals(told, [[403, 403, 403], "same"]);
  assertEquals((await app.post(`${given.at}/members`, { user: "c" })).status, 201);
  assertEquals((await app.delete(`${given.at}/members/${given.ids[0]}`)).status, 204);
});

test("scope of elements that no statement can ask binds their writes", async () => {
  @rest({ route: "/crews", methods: [one()] })
  class Crew extends FrameworkModel {
    @rest({ methods: HOOKED, scope: () => ({ $expr: { $ne: ["$user", "$note"] } }) })
    @arrayProp({ items: Member, embedded: true, apart: false })
    members?: Member[];
  }
  await using app = await mount([Crew]);
  const members = [{ user: "a", note: "b" }, { user: "c", note: "c" }];
  const crew = await getModel(Crew).create({ members } as never) as unknown as Crew;
  const [first, second] = (crew.members ?? []).map(({ _id }) =>
    `/crews/${crew._id}/members/${_id}`
  );
  const statuses = [
    await app.patch(`${first}`, { note: "a" }),
    await app.patch(`${first}`, { note: "d" }),
    await app.patch(`${second}`, { note: "d" }),
    await app.delete(`${second}`),
    await app.delete(`/crews/${crew._id}/members`),
  ].map(({ status }) => status);
  assertEquals(statuses, [403, 200, 404, 404, 204]);
  const stored = await getModel(Crew).findById(crew._id);
  assertEquals(stored?.members?.map(({ user }) => user), ["c"]);
});

test("scope is left by none of two removals at once that each leave it whole", async () => {
  const model = scoped(() => ({ "members.user": "me" }));
  await using app = await mount([model]);
  for (let round = 0; round < 5; round++) {
    const given = await put(model, { members: [{ user: "me" }, { user: "me" }] });
    const replies = await Promise.all(
      given.ids.map((id) => app.delete(`${given.at}/members/${id}`)),
    );
    assertEquals(replies.map(({ status }) => status).sort(), [204, 403]);
  }
});

test("scope that reads a part loses none of 30 creates of it at once", async () => {
  const model = scoped(() => ({ "members.user": "me" }));
  await using app = await mount([model]);
  const given = await put(model, { members: [{ user: "me" }] });
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, user) => app.post(`${given.at}/members`, { user: `u${user}` })),
  );
  assertEquals(replies.filter(({ status }) => status === 201).length, 30);
  const { members, __v } = await given.stored() as { members: unknown[]; __v: number };
  assertEquals([members.length, __v], [31, 30]);
});

test("scope that reads a part loses no change of two fields of each of its elements at once", async () => {
  const model = scoped(() => ({ "members.user": "me" }));
  await using app = await mount([model]);
  const members = Array.from({ length: 10 }, () => ({ user: "you", note: "old" }));
  const given = await put(model, { members: [{ user: "me" }, ...members] });
  const replies = await Promise.all(
    given.ids.slice(1).flatMap((id) => [
      app.patch(`${given.at}/members/${id}`, { user: "she" }),
      app.patch(`${given.at}/members/${id}`, { note: "new" }),
    ]),
  );
  assertEquals(replies.filter(({ status }) => status !== 200), []);
  const { members: stored } = await given.stored() as { members: EntityBody[] };
  const [, ...changed] = stored.map(({ user, note }) => `${user} ${note}`);
  assertEquals(changed, members.map(() => "she new"));
});

test("scope that reads nothing of a part costs its writes no further statement", async () => {
  const model = scoped(() => ({ name: "n" }));
  await using app = await mount([model]);
  const given = await put(model, { name: "n", members: [{ user: "me" }] });
  const sent = await watchCommands(app.database.uri);
  await app.patch(`${given.at}/members/${given.ids[0]}`, { user: "you" });
  await app.delete(`${given.at}/members/${given.ids[0]}`);
  const names = ["find", "aggregate", "findAndModify", "find", "aggregate", "update"];
  assertEquals(sent.map(({ name }) => name), names);
});
