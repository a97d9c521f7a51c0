import { assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  removeAll,
  rest,
} from "../../../mod.ts";
import type { ModelClass, QueryObject } from "../../../mod.ts";
import { pass, watchCommands } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { failCommand, named, namesOf } from "./many.ts";
import {
  type EntityBody,
  type ErrorBody,
  mount,
  type Mounted,
  NOBODY,
} from "../../support/support.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

class Player extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ unique: true, sparse: true })
  number?: string;
  @prop()
  team?: string;
}

class Note extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ hidden: true, default: "hidden" })
  secret?: string;
  @prop()
  team?: string;
}

const MANY = { many: 10 };

/** The scope of the parts of a request. */
let scope: QueryObject = {};

class Squad extends FrameworkModel {
  @rest({ methods: [all(), create(MANY)] })
  @arrayProp({ items: Player })
  players?: Ref<Player>[];
  @rest({ methods: [all(), create(MANY)] })
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];
}

@rest({ route: "/teams", methods: [one(), create()] })
class Team extends FrameworkModel {
  @rest({ methods: [all(), one(), create(MANY), removeAll()], scope: () => scope })
  @arrayProp({ items: Player })
  players?: Ref<Player>[];
  @rest({ methods: [all(), one(), create({ ...MANY, preSave: pass })], scope: () => scope })
  @arrayProp({ items: Note, embedded: true, apart: false })
  notes?: Note[];
  @rest({ methods: [one()] })
  @arrayProp({ items: Squad, embedded: true })
  squads?: Squad[];
}

@rest({ route: "/loose", methods: [one(), create()] })
class Loose extends FrameworkModel {
  @rest({ methods: [all(), create({ ...MANY, atomic: false })] })
  @arrayProp({ items: Player })
  players?: Ref<Player>[];
  @rest({ methods: [all(), create({ ...MANY, atomic: false })] })
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];
}

/** Stores a team with a squad; gives the path of it. */
async function putTeam(): Promise<string> {
  const { _id } = await getModel(Team).create({ squads: [{}] } as never) as Team;
  return `/teams/${_id}`;
}

async function squadOf(app: Mounted, team: string): Promise<string> {
  const { squads } = await app.read(team) as unknown as { squads: EntityBody[] };
  return `${team}/squads/${squads[0]?._id}`;
}

/** What is stored of a team: how many identifiers it holds, and how many players there are. */
async function look(team: string): Promise<{ held: number; players: number; version: unknown }> {
  const found = await getModel(Team).findById(team.slice("/teams/".length)).lean();
  const players = await getModel(Player).countDocuments();
  return { held: found?.players?.length ?? 0, players, version: found?.__v };
}

const RULES: Readonly<Record<string, (app: Mounted) => Promise<void>>> = {
  async "writes them and their identifiers in one transaction"(app) {
    const team = await putTeam();
    const sent = await watchCommands(app.database.uri);
    const list = [`${team}/players`, `${await squadOf(app, team)}/players`];
    for (const path of list) {
      sent.length = 0;
      const reply = await app.post<EntityBody[]>(path, named("a", "b", "c"));
      assertEquals([reply.status, reply.body.map(({ name }) => name)], [201, ["a", "b", "c"]]);
      const writes = namesOf(sent).filter((name) => !["find", "aggregate"].includes(name));
      assertEquals(writes, ["insert", "update", "commitTransaction"], path);
      assertEquals(await app.read<EntityBody[]>(path), reply.body);
    }
    assertEquals(await look(team), { held: 3, players: 6, version: 2 });
  },

  async "leaves nothing behind where one of them is refused"(app) {
    const team = await putTeam();
    const before = await look(team);
    await app.created(`${team}/players`, { name: "x", number: "7" });
    const body = [{ name: "y" }, { name: "z", number: "7" }];
    const { status, body: refused } = await app.post(`${team}/players`, body);
    assertEquals([status, refused.index, refused.fields], [409, 1, ["number"]]);
    const wrong = await app.post<ErrorBody>(`${team}/players`, [{ name: "y" }, {}]);
    assertEquals([wrong.status, Object.keys(wrong.body.errors ?? {})], [400, ["1.name"]]);
    const after = { held: before.held + 1, players: before.players + 1, version: 1 };
    assertEquals(await look(team), after);
  },

  async "writes the same again where the commit fails, for one version more"(app) {
    const team = await putTeam();
    const { players } = await look(team);
    const errorLabels = ["TransientTransactionError"];
    await failCommand(mongoose.connection, ["commitTransaction"], {
      mode: { times: 2 },
      errorCode: 112,
      errorLabels,
    });
    const made = await app.created<EntityBody[]>(`${team}/players`, named("a", "b"));
    assertEquals(await look(team), { held: 2, players: players + 2, version: 1 });
    assertEquals(await app.read<EntityBody[]>(`${team}/players`), made);
  },

  async "keeps to the scope, and to a parent that is there"(app) {
    const team = await putTeam();
    const before = await look(team);
    scope = { team: { $in: ["red"] } };
    const mixed = ["red", "blue"].map((color) => ({ name: color, team: color }));
    assertEquals((await app.post(`${team}/players`, mixed)).status, 403);
    assertEquals(await look(team), before);
    const red = [mixed[0], mixed[0]];
    assertEquals((await app.post(`${team}/players`, red)).status, 201);
    scope = {};
    assertEquals((await app.post(`/teams/${NOBODY}/players`, named("a", "b"))).status, 404);
    assertEquals((await look(team)).players, before.players + 2);
  },

  async "at the same time as others writes all of each"(app) {
    const team = await putTeam();
    const bodies = Array.from(
      { length: 10 },
      (_, index) => named(`${index}`, `${index}`, `${index}`),
    );
    const replies = await Promise.all(bodies.map((body) => app.post(`${team}/players`, body)));
    assertEquals([...new Set(replies.map(({ status }) => status))], [201]);
    assertEquals((await look(team)).held, 30);
  },
};

test("create({ many }) below a parent that refers to entities", async (t) => {
  await using mongo = await openReplicaSet();
  await using app = await mount([Team, Loose], { mongo: mongo.uri });
  await getModel(Player).init();
  for (const [name, check] of Object.entries(RULES)) await t.step(name, () => check(app));
});

test("create({ many }) of what a parent embeds is one update, without transactions", async () => {
  await using app = await mount([Team, Loose]);
  const team = await putTeam();
  const lists = [`${team}/notes`, `${await squadOf(app, team)}/notes`];
  const sent = await watchCommands(app.database.uri);
  for (const [index, path] of lists.entries()) {
    sent.length = 0;
    const reply = await app.post<EntityBody[]>(path, named("a", "b", "c"));
    assertEquals([reply.status, reply.body.map(({ name }) => name)], [201, ["a", "b", "c"]]);
    assertEquals(namesOf(sent).filter((name) => name === "update").length, 1);
    assertEquals(namesOf(sent).filter((name) => name.endsWith("Transaction")), []);
    assertEquals(await app.read<EntityBody[]>(path), reply.body);
    assertEquals(Object.keys(reply.body[0] ?? {}).includes("secret"), false);
    assertEquals((await look(team)).version, index + 1);
    const wrong = await app.post<ErrorBody>(path, [{ name: "d" }, {}, 3]);
    // A preSave hook may set what a body leaves out.
    const keys = index === 0 ? ["2"] : ["2", "1.name"];
    assertEquals([wrong.status, Object.keys(wrong.body.errors ?? {})], [400, keys]);
    const unset = await app.post<ErrorBody>(path, [{ name: "d" }, {}]);
    assertEquals([unset.status, Object.keys(unset.body.errors ?? {})], [400, ["1.name"]]);
    assertEquals((await app.read<EntityBody[]>(path)).length, 3);
    assertEquals((await app.post(path, [])).text, "[]");
  }
  scope = { team: "red" };
  const mixed = ["red", "blue"].map((color) => ({ name: color, team: color }));
  assertEquals((await app.post(`${team}/notes`, mixed)).status, 403);
  scope = {};
  assertEquals((await app.read<EntityBody[]>(`${team}/notes`)).length, 3);
});

test("create({ many, atomic: false }) below a parent tells the fate of each", async () => {
  await using app = await mount([Team, Loose]);
  const loose = await app.created("/loose", {});
  for (const part of ["players", "notes"]) {
    const path = `/loose/${loose._id}/${part}`;
    const reply = await app.post<EntityBody[]>(path, [{ name: "a" }, {}, { name: "b" }]);
    assertEquals([reply.status, reply.body.map(({ status }) => status)], [207, [201, 400, 201]]);
    const ids = (await app.read<EntityBody[]>(path)).map(({ _id }) => _id);
    assertEquals(ids.sort(), [reply.body[0]?._id, reply.body[2]?._id].map(String).sort());
  }
});

test("create({ many }) needs transactions below a parent that refers, and none to embed", async () => {
  await using app = await mount([Team, Loose], { onError: () => {} });
  const team = await putTeam();
  assertEquals((await app.post(`${team}/players`, named("a", "b"))).status, 500);
  assertEquals(await look(team), { held: 0, players: 0, version: 0 });
  assertEquals((await app.post(`${team}/players`, named("a"))).status, 201);
  assertThrows(() => Framework.initialize({ models: [Team] }), TypeError, `Cannot mount "Player"`);
  Framework.initialize({ models: [Loose, embedding()] });
  assertEquals(mongoose.connection.readyState, 1);
});

/** A model that embeds, and one that holds one entity. */
function embedding(): ModelClass {
  @rest({ route: "/embedding", methods: [one()] })
  class Embedding extends FrameworkModel {
    @rest({ methods: [create(MANY)] })
    @arrayProp({ items: Note, embedded: true })
    notes?: Note[];
  }
  return Embedding;
}

test("create({ many }) does not start where a parent holds one entity", () => {
  @rest({ route: "/holders", methods: [one()] })
  class Holder extends FrameworkModel {
    @rest({ methods: [create(MANY)] })
    @prop({ ref: Player })
    player?: Ref<Player>;
  }
  assertThrows(
    () => Framework.initialize({ models: [Holder] }),
    TypeError,
    `create() cannot have "many": the property holds one entity`,
  );
});
