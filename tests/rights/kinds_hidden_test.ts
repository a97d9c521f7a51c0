import mongoose from "mongoose";
import { assert, assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { toChange } from "../../src/changes/change.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount } from "../support/support.ts";

const isNoAgent = (req: FrameworkRequest) => req.get("x-role") !== "agent";
const isNoClerk = (req: FrameworkRequest) => req.get("x-role") !== "clerk";

/** The fields that a kind has beyond its base. */
const OWN = {
  seen: String,
  chip: { type: String, hidden: true },
  ours: { type: String, hidden: isNoAgent },
  locked: { type: String, readonly: isNoClerk },
  deep: new mongoose.Schema({ shown: String, kept: { type: String, hidden: true } } as never),
};

const DEEP = { _id: new mongoose.Types.ObjectId(), shown: "s", kept: "SECRET" };
const STORED = { seen: "yes", chip: "SECRET", ours: "SECRET, ours", locked: "l", deep: DEEP };

class Part extends FrameworkModel {
  @prop()
  name?: string;

  static override configure(schema: mongoose.Schema): void {
    schema.discriminator("Gear", new mongoose.Schema(OWN as never));
  }
}

const pass = <E>(_req: FrameworkRequest, entity: E): E => entity;
const passed = { postFetch: pass };
const saved = { preSave: pass };

/** Makes a class that has kinds and embeds kinds; an option of the kind may be the JSON of its documents. */
function makePet(toJSON?: object) {
  @rest({
    route: "/plain",
    methods: [
      all({ groups: { by: ["name"], max: 9 } }),
      one(),
      update(),
      updateAll({ max: 9, fields: ["name"] }),
    ],
  })
  @rest({
    route: "/hooked",
    methods: [all(passed), one(passed), update(saved), replace({ by: "name", ...saved })],
  })
  @rest({ route: "/lean", methods: [all({ lean: true }), one({ lean: true, ...passed })] })
  class Pet extends FrameworkModel {
    @prop({ unique: true, required: true })
    name!: string;
    @arrayProp({ items: Part, embedded: true })
    @rest({ route: "/parts", methods: [all(), one(), update()] })
    parts!: Part[];
    @prop({ type: Part })
    held?: Part;

    static override configure(schema: mongoose.Schema): void {
      const kind = new mongoose.Schema(OWN as never, { ...toJSON !== undefined && { toJSON } });
      schema.discriminator(`Dog${crypto.randomUUID()}`, kind, { value: "Dog" });
    }
  }
  return Pet;
}

async function mountPet(toJSON?: object) {
  const Pet = makePet(toJSON);
  const app = await mount([Pet]);
  const part = { __t: "Gear", name: "p", ...STORED };
  const parts = [{ _id: new mongoose.Types.ObjectId(), ...part }];
  const held = { _id: new mongoose.Types.ObjectId(), ...part };
  const { collection } = getModel(Pet);
  const pet = { __t: "Dog", name: "rex", __v: 0, ...STORED, parts, held };
  const { insertedId } = await collection.insertOne(pet as never);
  return { app, Pet, pet, collection, id: String(insertedId), part: String(parts[0]?._id) };
}

for (const [name, toJSON] of Object.entries({ usual: undefined, own: { virtuals: true } })) {
  test(`no way shows what a kind alone hides (JSON: ${name})`, async () => {
    const { app, id, part, pet, Pet } = await mountPet(toJSON);
    await using _ = app;
    const lists = ["plain", "hooked", "lean"].flatMap((each) => [`/${each}`, `/${each}/${id}`]);
    for (const path of [...lists, `/plain/${id}/parts`, `/plain/${id}/parts/${part}`]) {
      const { status, text } = await app.get(path);
      assert(status === 200 && !text.includes("SECRET"), `${path} ${text}`);
      assertEquals(text.includes('"seen":"yes"'), !path.startsWith("/lean"), text);
      assert(text.includes('"__t":'), text);
      const agents = (await app.get(path, { headers: { "x-role": "agent" } })).text;
      assert(!agents.includes('"SECRET"'), agents);
      assertEquals(agents.includes("SECRET, ours"), !path.startsWith("/lean"), agents);
    }
    const paths = ["chip", "ours", "deep.kept", "parts.chip", "held.ours"];
    for (const path of paths) {
      const reply = await app.get(`/plain${asQuery({ [path]: { $exists: true } })}`);
      assertEquals(reply.status, 400, reply.text);
    }
    const model = getModel(Pet);
    const event = { operationType: "insert", documentKey: {}, fullDocument: pet, _id: {} };
    const change = toChange(event as never, { model: model as never, attempt: {} as never });
    for (const doc of [await model.findOne(), await change.entity()]) {
      const json = JSON.stringify(doc);
      assert(!json.includes("SECRET") && json.includes('"seen":"yes"'), json);
    }
  });
}

test("no write sets or removes what a kind alone hides or protects", async () => {
  const { app, id, part, collection } = await mountPet();
  await using _ = app;
  const before = await collection.findOne();
  const own = { chip: "x", ours: "x", locked: "x", deep: { kept: "x" } };
  const body = { name: "rex", ...own, parts: [{ _id: part, name: "p", ...own }], held: null };
  const written = [
    await app.patch(`/plain/${id}`, body),
    await app.patch(`/hooked/${id}`, body),
    await app.put("/hooked/rex", body),
    await app.patch(`/plain${asQuery({})}`, { name: "rex" }),
    await app.patch(`/plain/${id}/parts/${part}`, own),
  ];
  for (const { status, text } of written) {
    assert(status === 200 && !text.includes("SECRET"), `${status} ${text}`);
  }
  const { name: _name, ...held } = Object(before).held;
  assertEquals(Object(await collection.findOne()), {
    ...before,
    held,
    __v: Object(before).__v + 5,
  });
});

/** Mounts a class with a kind, and returns why its start fails. */
async function startFailure(
  kind: object,
  { base = {}, options = {}, late = false }: {
    base?: object;
    options?: object;
    late?: boolean;
  } = {},
): Promise<string> {
  const schema = new mongoose.Schema(kind as never);
  @rest({ route: "/pets", methods: [all()], schemaOptions: options })
  class Pet extends FrameworkModel {
    @prop(base)
    chip?: string;
    @prop({ type: Object })
    free?: object;
    static override configure(own: mongoose.Schema): void {
      if (!late) own.discriminator(`Dog${crypto.randomUUID()}`, schema, { value: "Dog" });
    }
  }
  try {
    await using app = await mount([Pet]);
    const model = getModel(Pet);
    if (late) model.discriminator(`Dog${crypto.randomUUID()}`, schema);
    await model.collection.insertOne({ chip: "SECRET" });
    return JSON.stringify(await app.read<EntityBody[]>("/pets"));
  } catch (error) {
    return error instanceof TypeError ? error.message : `Unexpected: ${error}`;
  }
}

const HIDDEN = { chip: { type: String, hidden: true } };

test("a kind that guards a field of its base otherwise than the base does fails the start", async () => {
  const failures = [
    [await startFailure(HIDDEN), "hidden", "chip"],
    [await startFailure(HIDDEN, { late: true }), "hidden", "chip"],
    [await startFailure({ chip: { type: String, hidden: isNoAgent } }), "hidden", "chip"],
    [await startFailure({ chip: String }, { base: { hidden: true } }), "hidden", "chip"],
    [await startFailure({ chip: { type: String, readonly: true } }), "readonly", "chip"],
    [await startFailure({ chip: { type: String, select: false } }), "select", "chip"],
    [await startFailure({ free: new mongoose.Schema(HIDDEN as never) }), "type", "free"],
    [await startFailure({ free: { sub: HIDDEN.chip } }), "type", "free"],
    [await startFailure({ tag: HIDDEN.chip }, { options: { strict: false } }), "guards", "tag"],
  ];
  for (const [message = "", option = "", path] of failures) {
    assert(message.startsWith('Cannot use the kind "Dog'), message);
    assert(message.includes(option) && message.includes(` of "${path}"`), message);
  }
});

test("a kind may declare a field of its base again that it guards as the base does", async () => {
  const kind = { chip: { type: String, hidden: isNoAgent, maxLength: 99 } };
  for (const late of [false, true]) {
    const shown = await startFailure(kind, { base: { hidden: isNoAgent }, late });
    assert(shown.startsWith("[{") && !shown.includes("SECRET"), shown);
  }
});

test("a kind inside of a list that guards a field of its base otherwise fails the start", async () => {
  class Inner extends FrameworkModel {
    @prop()
    chip?: string;
  }
  @rest({ route: "/outers", methods: [all(), create()] })
  class Outer extends FrameworkModel {
    @arrayProp({ items: Inner, embedded: true })
    inner!: Inner[];
    static override configure(schema: mongoose.Schema): void {
      const list = schema.path("inner") as mongoose.Schema.Types.DocumentArray;
      list.discriminator("Cog", new mongoose.Schema(HIDDEN as never));
    }
  }
  const failure = await mount([Outer]).then(() => undefined, (error) => String(error));
  assertEquals(failure?.includes('the kind "Cog" of "Inner"'), true, failure);
});
