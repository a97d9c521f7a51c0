import { assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import { all, create, Framework, getModel, one, remove, replace, update } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount } from "../support/support.ts";

const { Schema } = mongoose;

const methods = [all(), one(), create(), update(), replace(), remove()];

const codes = new Schema({ _id: String, name: String, tags: { type: [String], default: ["new"] } });

const Code = adopt(mongoose.model("AdoptedCode", codes), {
  shown: "all",
  writable: "all",
  rest: { route: "/adopted-codes", methods },
});

test("an adopted model whose _id clients give is served by it", async () => {
  await using app = await mount([Code]);
  const made = await app.post<EntityBody>("/adopted-codes", { _id: "a-1", name: "A" });
  assertEquals([made.status, made.body], [201, { _id: "a-1", name: "A", tags: ["new"], __v: 0 }]);
  assertEquals((await app.post("/adopted-codes", { name: "B" })).status, 400);
  assertEquals((await app.patch<EntityBody>("/adopted-codes/a-1", { name: "C" })).body.name, "C");
  assertEquals((await app.put("/adopted-codes/a-2", { name: "D" })).status, 201);
  assertEquals((await app.delete("/adopted-codes/a-1")).status, 204);
  assertEquals((await app.get<EntityBody[]>("/adopted-codes")).body.map(({ _id }) => _id), ["a-2"]);
});

test("an adopted model stays on its own connection and collection", async () => {
  const connection = mongoose.createConnection();
  const schema = new Schema({ name: { type: String, unique: true }, hidden: String });
  const model = connection.model("AdoptedElse", schema, "elsewhere");
  const target = adopt(model, {
    shown: ["name"],
    writable: ["name", "hidden"],
    rest: { route: "/adopted-else", methods },
  });
  await using app = await mount([target]);
  await connection.openUri(app.database.uri);
  const made = await app.post<EntityBody>("/adopted-else", { name: "a", hidden: "b" });
  assertEquals([made.status, Object.keys(made.body)], [201, ["_id", "name", "__v"]], made.text);
  assertEquals((await app.post("/adopted-else", { name: "a" })).status, 409);
  assertEquals((await model.findById(made.body._id))?.hidden, "b");
  assertEquals(await connection.collection("elsewhere").countDocuments(), 1);
  assertEquals(getModel(target).db, connection as never);
  assertThrows(() => getModel(target, mongoose.connection), TypeError, "on another connection");
  await connection.close();
});

const zone = new Schema({ name: String });
const ship = new Schema({
  name: String,
  zone: { type: Schema.Types.ObjectId, ref: "AdoptedZone" },
});

function fleet(connection: mongoose.Connection, route: string) {
  const zones = connection.model("AdoptedZone", zone);
  const given = { shown: "all", writable: "all" } as const;
  const populating = [all({ populate: { zone: true } } as never), create()];
  return {
    zones: () => adopt(zones, { ...given, rest: { route: `/zones-${route}`, methods } }),
    ships: adopt(connection.model("AdoptedShip", ship), {
      ...given,
      rest: { route: `/ships-${route}`, methods: populating },
    }),
  };
}

test("models of one name on two connections are adopted, and refer to their own", async () => {
  const connection = mongoose.createConnection();
  const [here, there] = [fleet(mongoose.connection, "here"), fleet(connection, "there")];
  const models = [here.zones(), here.ships, there.zones(), there.ships];
  await using app = await mount(models);
  await connection.openUri(`${app.database.uri}2`);
  for (const place of ["here", "there"]) {
    const made = await app.post<EntityBody>(`/zones-${place}`, { name: place });
    await app.post(`/ships-${place}`, { name: "a", zone: made.body._id });
    const { body } = await app.get<EntityBody[]>(`/ships-${place}?populate=zone`);
    assertEquals(body.map((each) => each.zone), [made.body] as never);
  }
  assertEquals(await connection.collection("adoptedzones").countDocuments(), 1);
  await connection.dropDatabase();
  await connection.close();
});

test("a reference names no adopted model of another connection", () => {
  const [here, there] = ["here", "there"].map((name) =>
    fleet(mongoose.createConnection(), `foreign-${name}`)
  ) as [ReturnType<typeof fleet>, ReturnType<typeof fleet>];
  const models = [here.zones(), there.ships];
  const problem = 'has "zone" in "populate", which refers to a model that is not adopted';
  assertThrows(() => Framework.initialize({ models, tidy: false }), TypeError, problem);
});
