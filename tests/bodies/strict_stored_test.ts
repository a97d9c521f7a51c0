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
  one,
  prop,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";
import { whenIndexed } from "../support/until.ts";
import { onlyStrict } from "../support/only_strict.ts";

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";

class Line extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  text?: string;
  @prop({ readonly: true, default: "new" })
  state!: string;
}

/** An entity whose JSON has more than its fields, with kinds, dotted paths and lists without `_id`. */
@rest({
  route: "/pets",
  methods: [all(), one(), create(), update(), replace()],
  schemaOptions: { collection: "strict_pets", timestamps: true, toJSON: { virtuals: true } },
})
class Pet extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
  @prop({ alias: "nick" })
  nickname?: string;

  get loud(): string {
    return `${this.name}!`;
  }

  static override configure(schema: mongoose.Schema): void {
    schema.add({ "owner.name": String, "owner.note": { type: String, readonly: true } } as never);
    schema.discriminator(
      "Dog",
      new mongoose.Schema(
        { chip: String, secret: { type: String, hidden: isCustomer } } as never,
      ),
    );
  }
}

async function stored() {
  const dog = { name: "Rex", chip: "c1", secret: "s", __t: "Dog", owner: { name: "a", note: "n" } };
  const { _id } = await getModel(Pet).create(dog as never);
  return `/pets/${_id}`;
}

test("what a toJSON, a kind and a dotted path show is accepted as it was read", async () => {
  await using app = await mount([Pet], { strict: onlyStrict("bodies") });
  const path = await stored();
  const read = await app.read(path);
  assertEquals([read.loud, read.chip, read.secret], ["Rex!", "c1", undefined]);
  const patched = await app.patch(path, { ...read, name: "Max" });
  assertEquals([patched.status, patched.body.name], [200, "Max"], patched.text);
  const put = await app.put(path, { ...patched.body, name: "Rex" });
  assertEquals([put.status, put.body.chip], [200, "c1"], put.text);
});

test("such a key with another value is refused, and one that is not shown is unknown", async () => {
  await using app = await mount([Pet], { strict: onlyStrict("bodies") });
  const path = await stored();
  for (
    const [body, kind] of [
      [{ loud: "Max!" }, "readonly"],
      [{ chip: "c2" }, "readonly"],
      [{ __t: "Cat" }, "readonly"],
      [{ secret: "s" }, "unknown"],
      [{ silent: "x" }, "unknown"],
      [{ owner: { note: "m" } }, "readonly"],
      [{ owner: { age: 5 } }, "unknown"],
      [{ lines: [{ state: "new" }] }, "readonly"],
      [{ lines: [{ _id: "x" }] }, "unknown"],
    ] as const
  ) {
    const { status, body: { errors = {} } } = await app.patch<ErrorBody>(path, body);
    assertEquals([status, ...Object.values(errors).map((each) => each.kind)], [400, kind]);
  }
  const made = await app.post<ErrorBody>("/pets", { loud: "Max!" });
  assertEquals([made.status, made.body.errors?.loud?.kind], [400, "unknown"]);
});

/** An entity of another database, which hooks fetch and persist. */
const FOREIGN = { _id: "5", name: "a", score: 7, __v: 3 };

@rest({
  route: "/foreign",
  methods: [update({ fetch: () => ({ ...FOREIGN }), persist: (_req, entity) => entity })],
})
class Foreign extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number, readonly: true })
  score?: number;
}

test("an entity of a fetch hook is compared as its reader sees it", async () => {
  await using app = await mount([Foreign], { strict: onlyStrict("bodies") });
  const same = await app.patch("/foreign/5", { name: "b", score: 7, __v: 3 });
  assertEquals([same.status, same.body.name], [200, "b"], same.text);
  assertEquals((await app.patch("/foreign/5", { score: 8 })).status, 400);
  assertEquals((await app.patch("/foreign/5", { __v: 2 })).status, 409);
});

@rest({
  route: "/shown",
  methods: [
    one(),
    update({
      postFetch: (_req, entity: Entity<Shown>) =>
        Object.assign(entity, { score: entity.score * 2 }),
    }),
  ],
})
class Shown extends FrameworkModel {
  static override schemaOptions = { collection: "strict_shown" };
  @prop()
  name?: string;
  @prop({ type: Number, readonly: true, default: 7 })
  score!: number;
}

test("a value that postFetch has changed is compared as the hook shows it", async () => {
  await using app = await mount([Shown], { strict: onlyStrict("bodies") });
  const { _id } = await getModel(Shown).create({});
  assertEquals((await app.patch(`/shown/${_id}`, { score: 14 })).status, 200);
  assertEquals((await app.patch(`/shown/${_id}`, { score: 7 })).status, 400);
});

@rest({ route: "/unique", methods: [create(), update(), replace()] })
class Unique extends FrameworkModel {
  static override schemaOptions = { collection: "strict_unique" };
  @prop()
  name?: string;
  @prop({ hidden: isCustomer, unique: true, sparse: true })
  serial?: string;
}

test("a hidden field whose unique index is not built is refused as an unknown key", async () => {
  await using app = await mount([Unique], {
    strict: onlyStrict("bodies"),
    onError: () => undefined,
  });
  await getModel(Unique).init();
  const { collection } = getModel(Unique);
  await whenIndexed(() => collection.dropIndexes());
  await collection.insertMany([{ serial: "a" }, { serial: "a" }] as never);
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri);
  const [first] = await collection.find().toArray();
  const answers = await Promise.all(["serial", "nope"].map(async (key) => {
    const { status, text } = await app.patch(`/unique/${first?._id}`, { [key]: "b" });
    return `${status} ${text.replaceAll(key, "KEY")}`;
  }));
  assertEquals(answers[0], answers[1]);
  const agent = { headers: { "x-role": "agent" } };
  assertEquals((await app.patch(`/unique/${first?._id}`, { serial: "b" }, agent)).status, 503);
});
