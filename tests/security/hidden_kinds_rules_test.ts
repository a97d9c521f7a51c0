import mongoose from "mongoose";
import { assert, assertEquals } from "@std/assert";
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
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";

const LONG = "x".repeat(20);
const isNoAgent = (req: { readonly headers: object }) => !("x-agent" in req.headers);

const OWN = {
  chip: { type: String, hidden: true, maxlength: 5 },
  ours: { type: String, hidden: isNoAgent, maxlength: 5 },
  number: { type: Number, hidden: true },
};

class Part extends FrameworkModel {
  @prop()
  name?: string;
  static override configure(schema: mongoose.Schema): void {
    schema.discriminator("Gear", new mongoose.Schema(OWN as never));
  }
}
const touch = action("touch", {
  on: "one",
  async run(_req, pet: Entity<Pet>) {
    pet.name = "touched";
    return await pet.save();
  },
});
@rest({
  route: "/pets",
  methods: [
    all(),
    one(),
    create({ many: 4, preSave: pass }),
    update({ preSave: pass }),
    updateAll({ max: 9, fields: ["name"], preSave: pass }),
    replace({ by: "key", preSave: pass }),
    touch,
  ],
})
class Pet extends FrameworkModel {
  @prop()
  name!: string;
  @prop({ unique: true, sparse: true })
  key?: string;
  @prop({ hidden: true, readonly: true, maxLength: 5 })
  inner?: string;
  @prop({ hidden: isNoAgent, maxLength: 5 })
  role?: string;
  @arrayProp({ items: Part, embedded: true })
  @rest({ methods: [all(), one(), create({ preSave: pass }), update({ preSave: pass })] })
  parts!: Part[];
  static override configure(schema: mongoose.Schema): void {
    schema.discriminator("DogX", new mongoose.Schema(OWN as never), { value: "Dog" });
  }
}

async function mountPets() {
  const app = await mount([Pet]);
  const { collection } = getModel(Pet);
  const store = async (values: object) => {
    await collection.deleteMany({});
    const pet = { __t: "Dog", name: "rex", key: "k", __v: 0, parts: [], ...values };
    const { insertedId } = await collection.insertOne(pet as never);
    return `/pets/${insertedId}`;
  };
  return { app, store };
}

const NAMED = { name: "new", chip: "b", ours: "b", number: 4, inner: "b", role: "b" };

test("a stored value that the client can neither see nor set is not validated for it", async () => {
  const { app, store } = await mountPets();
  await using _ = app;
  const hidden = [{ chip: LONG }, { ours: LONG }, { number: "none" }, { inner: LONG }, {
    role: LONG,
  }];
  const writes: ((path: string) => Promise<{ status: number; text: string }>)[] = [
    (path) => app.patch(path, { name: "new" }),
    (path) => app.patch(path, NAMED),
    () => app.patch(`/pets${asQuery({})}`, { name: "new" }),
    () => app.put("/pets/k", { name: "new" }),
    () => app.put("/pets/k", NAMED),
    (path) => app.post(`${path}/touch`, undefined),
  ];
  for (const values of hidden) {
    for (const [index, write] of writes.entries()) {
      const { status, text } = await write(await store(values));
      assert(status === 200 && !text.includes("xxx"), `${JSON.stringify(values)} ${index} ${text}`);
    }
  }
});

test("a hidden value of a kind in a list is not validated for whoever writes around it", async () => {
  const { app, store } = await mountPets();
  await using _ = app;
  const _id = new mongoose.Types.ObjectId();
  const writes: ((path: string) => Promise<{ status: number; text: string }>)[] = [
    (path) => app.patch(path, { name: "new" }),
    (path) => app.patch(path, { parts: [{ _id, name: "q" }, { name: "r" }] }),
    (path) => app.patch(`${path}/parts/${_id}`, { name: "q" }),
    (path) => app.patch(`${path}/parts/${_id}`, NAMED),
    (path) => app.post(`${path}/touch`, undefined),
  ];
  for (const values of [{ chip: LONG }, { ours: LONG }]) {
    for (const [index, write] of writes.entries()) {
      const { status, text } = await write(
        await store({ parts: [{ _id, __t: "Gear", name: "p", ...values }] }),
      );
      assert(status === 200 && !text.includes("xxx"), `${JSON.stringify(values)} ${index} ${text}`);
    }
  }
});

test("a kind that is added late hides its values in errors, too", async () => {
  const { app, store } = await mountPets();
  await using _ = app;
  getModel(Pet).discriminator(
    `Cat${crypto.randomUUID()}`,
    new mongoose.Schema({
      lives: { type: String, hidden: true, maxlength: 5 },
    } as never) as never,
    { value: "Cat" },
  );
  const { status, text } = await app.patch(await store({ __t: "Cat", lives: LONG }), { name: "n" });
  assertEquals(status, 200, text);
});
