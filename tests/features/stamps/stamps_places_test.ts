import { assert, assertEquals } from "@std/assert";
import express from "express";
import { Schema } from "mongoose";
import { mcp } from "@mongrove/mongrove/mcp";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  remove,
  replace,
  rest,
  update,
} from "../../../mod.ts";
import { serveTools } from "../../mcp/mcp.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { longTest, test } from "../../harness/testing.ts";
import { mount, type Mounted } from "../../support/support.ts";
import { growth } from "../../support/growth.ts";

const actor = (req: FrameworkRequest) => req.headers["x-user"] as string | undefined;
const as = (user: string, more: Record<string, string> = {}) => ({
  headers: { "x-user": user, ...more },
});

/** Who has created and who has changed an object, such as `["ann", "bob"]`. */
const stampsOf = (stored: unknown) => {
  const { madeBy, changedBy } = Object(stored) as Record<string, unknown>;
  return [madeBy, changedBy];
};

abstract class Stamped extends FrameworkModel {
  @prop({ stamp: "createdBy" })
  readonly madeBy?: string;
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: string;
}

/** Notes of their creators alone. The hooks of lists select by `queryFor()`. */
@rest({
  route: "/own",
  methods: [
    all({
      fetch: async (req) => {
        const { filter, model } = await Framework.queryFor(req, Own);
        return model.find(filter);
      },
    }),
    one(),
    create({ idempotency: { keep: "1h", caller: (req) => String(req.headers["x-user"]) } }),
  ],
  scope: (req) => ({ madeBy: req.framework.actor ?? "nobody" }),
})
class Own extends Stamped {
  @prop()
  text?: string;
}

test("scopes see the sender wherever they are asked: queryFor() and repeated creations", async () => {
  await using app = await mount([Own], { actor });
  await app.post("/own", { text: "a" }, as("ann"));
  await app.post("/own", { text: "b" }, as("bob"));
  const shown = await app.get<Own[]>("/own", as("ann"));
  assertEquals(shown.body.map(({ text }) => text), ["a"]);
  const repeated = as("ann", { "idempotency-key": '"key-1"' });
  const first = await app.post("/own", { text: "c" }, repeated);
  const again = await app.post("/own", { text: "c" }, repeated);
  assertEquals([first.status, again.status, again.body], [201, 201, first.body]);
});

test("an actor that is a promise is a 500, and its failure ends nothing", async () => {
  const failing = () => Promise.reject(new Error("no session")) as never;
  await using app = await mount([Own], { actor: failing, onError: () => {} });
  assertEquals((await app.get("/own")).status, 500);
  await new Promise((resolve) => setTimeout(resolve, 20));
});

class Part extends Stamped {
  @prop()
  name?: string;
  static override configure(schema: Schema): void {
    schema.discriminator("PartGear", new Schema({ teeth: Number }));
  }
}

class Label extends Stamped {
  @prop()
  name?: string;
}

/** A part without an identifier. */
class Piece extends Stamped {
  static override schemaOptions = { _id: false };
  @prop()
  name?: string;
}

const shout = action("shout", {
  on: "one",
  run: async (_req, whole: Entity<Whole>) => {
    Object.assign(whole, { madeBy: "hook", changedBy: "hook" });
    whole.parts.push({ __t: "PartGear", name: "pushed" } as never);
    await whole.save();
  },
});

@rest({ route: "/wholes", methods: [all(), create(), update(), shout] })
@rest({
  route: "/persisted",
  methods: [
    create({ persist: (_req, whole) => whole.save() }),
    update({ persist: (_req, whole) => whole.save() }),
  ],
  main: true,
})
class Whole extends Stamped {
  @prop()
  text?: string;
  @arrayProp({ items: Part, embedded: true })
  parts!: Part[];
  @arrayProp({ items: Piece, embedded: true })
  pieces!: Piece[];
  @prop({ type: Part })
  only?: Part;
  @prop({ type: Map, of: Label })
  byName?: Map<string, Label>;
}

type Stored = Record<"parts" | "pieces", { name?: string }[]> & Record<string, unknown>;

async function storedOf(_id: unknown): Promise<Stored> {
  return await getModel(Whole).findById(_id).lean() as unknown as Stored;
}

const partsOf = (list: Stored["parts"]) => list.map((each) => [each.name, ...stampsOf(each)]);

async function makeWhole(app: Mounted, body: object): Promise<string> {
  return String((await app.post("/wholes", body, as("ann"))).body._id);
}

test("parts of a kind and values of Maps have stamps, and a hook cannot set them", async () => {
  await using app = await mount([Whole], { actor });
  const id = await makeWhole(app, { parts: [{ __t: "PartGear", name: "a" }, { name: "b" }] });
  const { parts } = await storedOf(id);
  const [a, b] = parts.map((each) => ({ ...each, madeBy: undefined, changedBy: undefined }));
  await app.patch(`/wholes/${id}`, { parts: [{ ...a, name: "c" }, b] }, as("bob"));
  assertEquals(partsOf((await storedOf(id)).parts), [["c", "ann", "bob"], ["b", "ann", "ann"]]);
  assertEquals((await app.post(`/wholes/${id}/shout`, undefined, as("cid"))).status, 204);
  const shouted = await storedOf(id);
  assertEquals(stampsOf(shouted), ["ann", "cid"]);
  assertEquals(partsOf(shouted.parts)[2], ["pushed", "cid", "cid"]);
  await app.patch(`/wholes/${id}`, { byName: { x: { name: "x" } } }, as("dan"));
  await app.patch(`/wholes/${id}`, { byName: { y: { name: "y" } } }, as("eve"));
  const { byName } = await storedOf(id) as Stored & { byName: Record<string, object> };
  assertEquals([stampsOf(byName.x), stampsOf(byName.y)], [["dan", "dan"], ["eve", "eve"]]);
});

test("an element without an identifier keeps its stamps while its values are equal", async () => {
  await using app = await mount([Whole], { actor });
  const id = await makeWhole(app, { pieces: [{ name: "a" }, { name: "b" }] });
  await app.patch(`/wholes/${id}`, { pieces: [{ name: "b" }, { name: "c" }] }, as("bob"));
  assertEquals(partsOf((await storedOf(id)).pieces), [["b", "ann", "ann"], ["c", "bob", "bob"]]);
});

test("null removes an object with stamps, and the next one is new", async () => {
  await using app = await mount([Whole], { actor });
  const id = await makeWhole(app, { only: { name: "a" }, byName: { x: { name: "x" } } });
  await app.patch(`/wholes/${id}`, { only: null, byName: { x: null } }, as("bob"));
  const { only, byName } = await storedOf(id);
  assertEquals([only, byName], [undefined, {}]);
  await app.patch(`/wholes/${id}`, { only: { name: "b" } }, as("bob"));
  assertEquals(stampsOf((await storedOf(id)).only), ["bob", "bob"]);
});

test("a persist hook gets the entity with its stamps", async () => {
  await using app = await mount([Whole], { actor });
  const { status, body } = await app.post("/persisted", { text: "a" }, as("ann"));
  assertEquals([status, ...stampsOf(await storedOf(body._id))], [201, "ann", "ann"]);
  await app.patch(`/persisted/${body._id}`, { text: "b" }, as("bob"));
  assertEquals(stampsOf(await storedOf(body._id)), ["ann", "bob"]);
});

longTest("a long list of parts is stamped in the time that its length takes", async () => {
  const bodyLimits = { maxObjects: 6_000, maxKeys: 6_000, maxElements: 6_000 };
  await using app = await mount([Whole], { actor, limits: { body: bodyLimits } });
  const pieces = Array.from({ length: 5_000 }, (_, index) => ({ name: `${index}` }));
  let id = "";
  const times = await growth(pieces.length, async (size) => {
    id = await makeWhole(app, { pieces: pieces.slice(0, size) });
    const added = [...pieces.slice(1, size), { name: "new" }];
    assertEquals((await app.patch(`/wholes/${id}`, { pieces: added }, as("bob"))).status, 200);
  });
  assert(times < 12, `${times}`);
  const stored = partsOf((await storedOf(id)).pieces);
  assertEquals([stored[0], stored.at(-1)], [["1", "ann", "ann"], ["new", "bob", "bob"]]);
});

@rest({ route: "/secrets", methods: [create()] })
class Secret extends FrameworkModel {
  @prop({ hidden: (req) => req.framework.actor !== "boss" })
  secret?: string;
}

test("what assistants read of a model is what its sender may see", async () => {
  const api = Framework.initialize({ models: [Secret], actor });
  const server = express();
  server.use(express.json());
  server.use(
    "/mcp",
    mcp(api, { expose: [{ model: Secret, route: "/secrets", operations: ["create"] }] }),
  );
  server.use(api);
  await using served = await serveTools(server);
  const describe = async (user: string) =>
    JSON.stringify(await served.call("describe", { model: "Secret" }, { "x-user": user }))
      .includes('"secret"');
  assertEquals([await describe("ann"), await describe("boss")], [false, true]);
});

@rest({
  route: "/lines",
  methods: [create({ many: 50, formats: ["ndjson"], preSave: (_r, e) => e })],
})
class Line extends Stamped {
  @prop()
  text?: string;
}

test("lines with hooks and stamps are one statement", async () => {
  await using app = await mount([Line], { actor });
  const sent = await watchCommands(app.database.uri);
  const reply = await fetch(`${app.url}/lines`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", "x-user": "ann" },
    body: '{"text":"a"}\n'.repeat(20),
  });
  await reply.text();
  assertEquals(sent.filter(({ name }) => name === "insert").length, 1);
  const stored = await getModel(Line).find().lean();
  assertEquals(stored.map(stampsOf), Array(20).fill(["ann", "ann"]));
});

@rest({ route: "/badges", methods: [one(), replace({ by: "code" })] })
class Badge extends FrameworkModel {
  @prop({ unique: true, required: true })
  code!: string;
  @prop({ type: Number, stamp: "createdBy" })
  readonly madeBy?: number;
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: string;
}

test("a PUT to an entity that exists needs a sender of updatedBy only", async () => {
  await using app = await mount([Badge], { actor, onError: () => undefined });
  await getModel(Badge).init();
  assertEquals((await app.put("/badges/a", {}, as("7"))).status, 201);
  assertEquals((await app.put("/badges/a", {}, as("ann"))).status, 200);
  assertEquals((await app.put("/badges/b", {}, as("ann"))).status, 500);
  const stored = await getModel(Badge).find().lean();
  assertEquals(stored.map(stampsOf), [[7, "ann"]]);
});

/** A hook that gives the request another `framework`, without its sender. */
const forget = <T>(req: FrameworkRequest, entity: T): T => {
  req.framework = { ...req.framework, actor: undefined } as never;
  return entity;
};

@rest({
  route: "/forgotten",
  methods: [
    one({ postFetch: forget }),
    create({ preSave: forget }),
    update({ postFetch: forget }),
    remove({ postFetch: forget }),
  ],
  trash: true,
})
class Forgotten extends Stamped {
  @prop()
  text?: string;
}

test("a hook that replaces req.framework loses no sender", async () => {
  await using app = await mount([Forgotten], { actor });
  const { _id } = await app.created("/forgotten", { text: "a" }, as("ann"));
  await app.patch(`/forgotten/${_id}`, { text: "b" }, as("bob"));
  const [changed] = await getModel(Forgotten).find().lean();
  assertEquals(stampsOf(changed), ["ann", "bob"]);
  assertEquals((await app.delete(`/forgotten/${_id}`, as("cem"))).status, 204);
  const [removed] = await getModel(Forgotten).find().lean();
  assertEquals([...stampsOf(removed), Object(removed).deletedBy], ["ann", "cem", "cem"]);
});
