import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection, Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  RestError,
} from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** The middleware that fails next, how it fails, and how often hooks have run. */
const state: { failing?: string; error: Error; transient: number; saves: number } = {
  error: new Error("Injected"),
  transient: 0,
  saves: 0,
};

/** The connection that all models of this file are served on. */
let connection: Connection = mongoose.connection;

function fail(name: string): () => void {
  return () => {
    if (state.failing === name) throw state.error;
  };
}

class Player extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  static override configure(schema: Schema): void {
    schema.pre("save", fail("save"));
    schema.pre("deleteOne", { document: true, query: false }, fail("deleteOne"));
  }
}

function countSave(_req: unknown, entity: object): object {
  state.saves++;
  return entity;
}

const methods = [all(), one(), create({ preSave: countSave }), remove(), removeAll()];

class Squad extends FrameworkModel {
  @rest({ methods })
  @arrayProp({ items: Player })
  players?: Ref<Player>[];
}

@rest({ route: "/teams", methods: [one()], getConnection: () => connection })
class Team extends FrameworkModel {
  @rest({ methods })
  @arrayProp({ items: Player })
  players?: Ref<Player>[];
  @rest({ methods: [one(), create({ preSave: countSave }), remove()] })
  @prop({ ref: Player })
  coach?: Ref<Player>;
  @rest({ methods: [one()] })
  @arrayProp({ items: Squad, embedded: true })
  squads?: Squad[];

  static override configure(schema: Schema): void {
    schema.pre("updateOne", fail("pre updateOne"));
    schema.post("updateOne", fail("post updateOne"));
    schema.pre("updateOne", () => {
      if (state.transient-- <= 0) return;
      const error = new mongoose.mongo.MongoServerError({ message: "Again", code: 112 });
      error.addErrorLabel("TransientTransactionError");
      throw error;
    });
  }
}

/** Stores a team with two players and a coach; a squad of it has two players too. */
async function putTeam() {
  for (const model of [Player, Team]) await getModel(model, connection).deleteMany();
  const names = ["A", "B", "C", "D", "coach"].map((name) => ({ name }));
  const [a, b, c, d, coach] = await getModel(Player, connection).create(names);
  const squads = [{ players: [c?._id, d?._id] }];
  const fields = { players: [a?._id, b?._id], coach: coach?._id, squads };
  const team = await getModel(Team, connection).create(fields as never) as Team;
  const at = `/teams/${team._id}`;
  const squad = `${at}/squads/${team.squads?.[0]?._id}`;
  return { team, at, lists: [[`${at}/players`, a?._id], [`${squad}/players`, c?._id]] as const };
}

/** The names of what the team refers to, those that lead nowhere as "?", and those of orphans. */
async function look({ _id }: Team): Promise<{ held: string; orphans: string }> {
  const team = await getModel(Team, connection).findById(_id).lean() as Team;
  const players = await getModel(Player, connection).find().sort({ _id: 1 }).lean() as Player[];
  const ids = [...team.players ?? [], ...team.squads?.[0]?.players ?? [], team.coach]
    .filter((id) => id !== undefined && id !== null).map(String);
  const nameOf = (id: string) => players.find((each) => String(each._id) === id)?.name ?? "?";
  const orphans = players.filter((each) => !ids.includes(String(each._id)));
  return { held: ids.map(nameOf).join(" "), orphans: orphans.map(({ name }) => name).join(" ") };
}

const WHOLE = { held: "A B C D coach", orphans: "" };

/** Gives a function that sends a request while a middleware fails. */
function failing({ send }: Client) {
  return async (middleware: string, method: string, path: string): Promise<number> => {
    state.failing = middleware;
    const { status } = await send(method, path, method === "POST" ? { body: { name: "new" } } : {});
    delete state.failing;
    return status;
  };
}

const quiet = { onError: () => new RestError(500, "Injected") };

async function hasTransactions(): Promise<boolean> {
  const hello = await connection.db?.admin().command({ hello: 1 });
  return hello?.setName !== undefined || hello?.msg === "isdbgrid";
}

/** What is left where there is a transaction, and where there is none. */
type Left = { held: string; orphans: string };

const CASES: [name: string, middleware: string, method: string, item: boolean, without: Left][] = [
  ["create() that fails at the first write", "save", "POST", false, WHOLE],
  ["create() that fails between its writes", "pre updateOne", "POST", false, {
    held: "A B C D coach",
    orphans: "new",
  }],
  ["remove() that fails at the first write", "pre updateOne", "DELETE", true, WHOLE],
  ["remove() that fails before its writes", "deleteOne", "DELETE", true, WHOLE],
  ["removeAll() that fails at the first write", "pre updateOne", "DELETE", false, WHOLE],
];

/** Every case, on the deployment that `connection` leads to. */
async function checkFailures(t: Deno.TestContext, app: Client): Promise<void> {
  const together = await hasTransactions();
  for (const [name, middleware, method, item, without] of CASES) {
    await t.step(name, async () => {
      const { team, lists: [[list, id]] } = await putTeam();
      const status = await failing(app)(middleware, method, item ? `${list}/${id}` : list);
      assertEquals([status, await look(team)], [500, together ? WHOLE : without]);
      const { _id } = await app.created(list, { name: "later" });
      assertEquals((await app.get(`${list}/${_id}`)).status, 200);
    });
  }
}

/** A failure once all is written: nobody may take it for one in between. */
async function checkLateFailure(app: Client): Promise<void> {
  const { team, lists } = await putTeam();
  for (const [list] of lists) {
    assertEquals(await failing(app)("post updateOne", "POST", list), 500);
  }
  const { held, orphans } = await look(team);
  const together = await hasTransactions();
  assertEquals(held, together ? WHOLE.held : "A B new C D new coach");
  assertEquals(orphans, "");
}

/** The same for a single reference, and for one that is held by an element of an array. */
async function checkOtherPlaces(app: Client): Promise<void> {
  const { team, at, lists: [, [squad, id]] } = await putTeam();
  const together = await hasTransactions();
  const send = failing(app);
  assertEquals(await send("deleteOne", "DELETE", `${at}/coach`), 500);
  assertEquals((await look(team)).orphans, "");
  await app.delete(`${at}/coach`);
  assertEquals(await send("pre updateOne", "POST", `${at}/coach`), 500);
  assertEquals(await send("pre updateOne", "POST", squad), 500);
  assertEquals(await send("deleteOne", "DELETE", `${squad}/${id}`), 500);
  const orphans = together ? "" : "new new";
  assertEquals(await look(team), { held: "A B C D", orphans });
}

/** A transaction that the database asks to run again: hooks have run before it, and once. */
async function checkRetry(app: Client): Promise<void> {
  const { team, at, lists: [[list, id]] } = await putTeam();
  Object.assign(state, { transient: 3, saves: 0 });
  const { __v } = await app.created(list, { name: "new" });
  assertEquals([__v, state.saves], [0, 1]);
  assertEquals(await look(team), { held: "A B new C D coach", orphans: "" });
  state.transient = 2;
  assertEquals((await app.delete(`${list}/${id}`)).status, 204);
  state.transient = 2;
  assertEquals((await app.delete(`${at}/coach`)).status, 204);
  assertEquals(await look(team), { held: "B new C D", orphans: "" });
}

/** Transactions that write the same parent at once. */
async function checkConcurrency(app: Client): Promise<void> {
  const { team, lists } = await putTeam();
  const runs = Array.from(
    { length: 50 },
    (_, number) => app.post(lists[number % 2]?.[0] ?? "", { name: "n" }),
  );
  const statuses = (await Promise.all(runs)).map(({ status }) => status);
  assertEquals([...new Set(statuses)], [201]);
  const { held, orphans } = await look(team);
  assertEquals([held.match(/n/g)?.length, held.includes("?"), orphans], [50, false, ""]);
}

test("both writes on a reference leave an orphan at most where there are no transactions", async (t) => {
  await using app = await mount([Team], quiet);
  ({ connection } = app.database);
  await t.step("a failure at any write", (step) => checkFailures(step, app));
  await t.step("a failure after both writes", () => checkLateFailure(app));
  await t.step("a single reference, and one in an element", () => checkOtherPlaces(app));
});

test("both writes on a reference are one transaction on a replica set", async (t) => {
  const mongo = await sharedReplicaSet();
  await using app = await mount([Team], quiet);
  connection = await mongoose.createConnection(mongo).asPromise();
  assertEquals(await hasTransactions(), true);
  await t.step("a failure at any write leaves nothing", (step) => checkFailures(step, app));
  await t.step("a failure after both writes leaves nothing", () => checkLateFailure(app));
  await t.step("a single reference, and one in an element", () => checkOtherPlaces(app));
  await t.step("one that has to run again writes once", () => checkRetry(app));
  await t.step("50 creates at once all survive", () => checkConcurrency(app));
  await connection.close();
});

/** Whether the transaction of the parent's update was open for its middleware. */
const joined: (boolean | undefined)[] = [];

class Line extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/sheets", methods: [one(), create()], history: true })
class Sheet extends FrameworkModel {
  @rest({ methods: [create(), all()] })
  @arrayProp({ items: Line, embedded: true, apart: false })
  lines?: Line[];
  @rest({ methods: [create(), all()] })
  @arrayProp({ items: Player })
  players?: Ref<Player>[];

  static override configure(schema: Schema): void {
    schema.pre("updateOne", function () {
      joined.push(this.getOptions().session?.inTransaction());
    });
  }
}

test("middleware of the parent's update gets the session of the transaction", async () => {
  await using app = await mount([Sheet], { mongo: await sharedReplicaSet() });
  const { _id } = await app.created("/sheets", {});
  await app.created(`/sheets/${_id}/lines`, { text: "a" });
  await app.created(`/sheets/${_id}/players`, { name: "A" });
  assertEquals(joined, [true, true]);
});
