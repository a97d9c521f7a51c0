import mongoose from "mongoose";
import { assertEquals } from "@std/assert";
import { arrayProp, FrameworkModel, getModel, one, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** The fields of a kind: objects and lists with schemas that no class builds. */
const OWN = {
  free: Object,
  words: { type: Map, of: String },
  sub: new mongoose.Schema({ text: String }),
  list: [{ text: String }],
};

type Loose = Record<string, unknown>;

let set: (entity: Loose) => void = () => {};

const hooks = {
  preSave(_req: unknown, entity: unknown) {
    set(entity as Loose);
    return entity as never;
  },
};

class Part extends FrameworkModel {
  @prop()
  name?: string;

  static override configure(schema: mongoose.Schema): void {
    schema.discriminator("Gear", new mongoose.Schema(OWN as never));
  }
}

@rest({ route: "/pets", methods: [one(), update(hooks)] })
class Pet extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Part })
  held?: Part;
  @arrayProp({ items: Part, embedded: true })
  @rest({ methods: [one(), update(hooks)] })
  parts!: Part[];

  static override configure(schema: mongoose.Schema): void {
    schema.discriminator(`Dog${crypto.randomUUID()}`, new mongoose.Schema(OWN as never), {
      value: "Dog",
    });
    schema.add({ added: new mongoose.Schema({ inner: new mongoose.Schema({ text: String }) }) });
  }
}

const _id = new mongoose.Types.ObjectId();
const PART = { _id, __t: "Gear", name: "p" };
const PET = { __t: "Dog", held: PART, parts: [PART], added: { _id, inner: { _id } } };

const late = () => Promise.resolve({});

test("a promise that a hook puts into a field of a kind is the application's error", async () => {
  await using app = await mount([Pet], { onError: () => {} });
  const { collection } = getModel(Pet);
  const { insertedId } = await collection.insertOne({ ...PET } as never);
  const before = await collection.findOne();
  const path = `/pets/${insertedId}`;
  const holders: [path: string, holder: (entity: Loose) => Loose][] = [
    [path, (entity) => entity],
    [path, ({ held }) => held as Loose],
    [path, ({ parts }) => Object(parts)[0]],
    [`${path}/parts/${_id}`, (entity) => entity],
  ];
  for (const [index, [path, holder]] of holders.entries()) {
    for (
      const [name, value] of Object.entries({
        free: late(),
        words: late(),
        sub: late(),
        list: [late()],
      })
    ) {
      set = (entity) => Object.assign(holder(entity), { [name]: value });
      const { status, text } = await app.patch(path, { name: "n" });
      assertEquals(status, 500, `${index} ${name} ${text}`);
    }
  }
  set = ({ added }) => Object.assign(Object(added), { inner: late() });
  assertEquals((await app.patch(path, { name: "n" })).status, 500);
  assertEquals(await collection.findOne(), before);
});
