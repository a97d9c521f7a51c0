// Runs alone: the models of its plugins are looked up on the first default connection.

import { assertEquals, assertThrows } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import autopopulate from "mongoose-autopopulate";
import softDelete from "mongoose-delete";
import paginate from "mongoose-paginate-v2";
import unique from "mongoose-unique-validator";
import { all, create, Framework, one, remove, update } from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount } from "../support/support.ts";

type Plugin = Parameters<Schema["plugin"]>[0];

const apply = (schema: Schema, plugin: unknown, options?: object): Schema =>
  schema.plugin(plugin as Plugin, options) as Schema;

const keeperSchema = new mongoose.Schema({
  name: { type: String, required: true, unique: true },
  pin: { type: String, select: false },
}) as Schema;
apply(keeperSchema, unique, { message: "is taken" });
apply(keeperSchema, paginate);
const KeeperModel = mongoose.model("PluggedKeeper", keeperSchema);

const petSchema = new mongoose.Schema({
  name: String,
  keeper: { type: mongoose.Schema.Types.ObjectId, ref: "PluggedKeeper", autopopulate: true },
  vets: [{ type: mongoose.Schema.Types.ObjectId, ref: "PluggedVet", autopopulate: true }],
}) as Schema;
apply(petSchema, autopopulate);
apply(petSchema, softDelete, { deletedAt: true });

mongoose.model("PluggedVet", new mongoose.Schema({ name: String, salary: Number }));

const methods = [all(), one(), create(), update(), remove()];

const Keeper = adopt(KeeperModel, {
  shown: ["name"],
  writable: ["name", "pin"],
  rest: { route: "/plugged-keepers", methods },
});

const Pet = adopt(mongoose.model("PluggedPet", petSchema), {
  shown: ["name", "keeper", "vets"],
  writable: ["name", "keeper", "vets"],
  rest: {
    route: "/plugged-pets",
    methods: [
      all({ populate: { keeper: true } } as never),
      ...methods.slice(1),
    ],
  },
});

test("adopted models keep the plugins of npm", async () => {
  await using app = await mount([Keeper, Pet]);
  const keeper = await app.post<EntityBody>("/plugged-keepers", { name: "Ann", pin: "1234" });
  assertEquals(keeper.body, { _id: keeper.body._id, name: "Ann", __v: 0 });
  const second = await app.post("/plugged-keepers", { name: "Ann" });
  assertEquals([second.status, second.text.includes("is taken")], [400, true], second.text);
  const vet = await mongoose.model("PluggedVet").create({ name: "Vic", salary: 5 });
  const pet = await app.post<EntityBody>("/plugged-pets", {
    ...{ name: "Rex", keeper: keeper.body._id, vets: [String(vet._id)], deleted: true },
  });
  const shown = {
    _id: pet.body._id,
    name: "Rex",
    keeper: keeper.body._id,
    vets: [String(vet._id)],
  };
  assertEquals(pet.body, { ...shown, __v: 0 } as never);
  assertEquals((await app.get(`/plugged-pets/${pet.body._id}`)).body, pet.body);
  const changed = await app.patch(`/plugged-pets/${pet.body._id}`, { name: "Max" });
  assertEquals(changed.body, { ...shown, name: "Max", __v: 1 });
  const [stored] = await app.database.connection.collection("pluggedpets").find().toArray();
  assertEquals([stored?.deleted, String(stored?.keeper)], [false, keeper.body._id]);
  const populated = await app.get<EntityBody[]>("/plugged-pets?populate=keeper");
  assertEquals(populated.body[0]?.keeper, keeper.body);
  assertEquals((await app.get(`/plugged-pets${asQuery({ deleted: false })}`)).status, 400);
  const page = await Reflect.apply(Reflect.get(KeeperModel, "paginate"), KeeperModel, [{}, {}]);
  assertEquals((page as { totalDocs: number }).totalDocs, 1);
});

test("a plugin that replaces members of the model fails the start", () => {
  const schema = apply(new mongoose.Schema({ name: String }) as Schema, softDelete, {
    overrideMethods: true,
  });
  const target = adopt(mongoose.model("PluggedOver", schema), {
    shown: "all",
    writable: "all",
    rest: { route: "/plugged-over", methods: [one()] },
  });
  assertThrows(
    () => Framework.initialize({ models: [target] }),
    TypeError,
    'Cannot adopt "PluggedOver": a static or plugin replaces',
  );
});
