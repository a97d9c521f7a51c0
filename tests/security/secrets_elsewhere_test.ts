// Runs alone: names of models depend on those of other classes.
import { Buffer } from "node:buffer";
import { assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import type { Express } from "express-types";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  prop,
  type Ref,
  rest,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { linksOf, readPages } from "../features/page/links.ts";
import { type EntityBody, mount } from "../support/support.ts";

/** What every secret says here. */
const SECRET = /s3cret/;

const { ObjectId } = mongoose.Schema.Types;

class Owner extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  password?: string;
}

function populateOwner({ framework }: FrameworkRequest): boolean {
  framework.options.populate = "owner";
  return true;
}

@rest({
  route: "/pets",
  methods: [all({ lean: true, preFetch: populateOwner, postFetch: pass })],
})
class Pet extends FrameworkModel {
  declare owner?: Ref<Owner>;

  static override configure(schema: Schema): void {
    schema.add({ owner: { type: ObjectId, ref: () => getModel(Owner) } });
  }
}

test("a reference whose class a function gives shows nothing hidden in a lean list", async () => {
  await using app = await mount([Pet]);
  const { _id } = await getModel(Owner).create({ name: "Ann", password: "s3cret" });
  await getModel(Pet).create({ owner: _id });
  const { text } = await app.get("/pets");
  assertStringIncludes(text, "Ann");
  assertNotMatch(text, SECRET);
});

/** Its model is made when the others are mounted already. */
class Vendor extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: true })
  password?: string;
}

function populateVendor({ framework }: FrameworkRequest): boolean {
  framework.options.populate = "vendor";
  return true;
}

@rest({
  route: "/lean",
  methods: [all({ lean: true, preFetch: populateVendor, postFetch: pass })],
})
@rest({
  route: "/fetched",
  methods: [all({ fetch: () => getModel(Product).find().populate("vendor").lean() })],
})
class Product extends FrameworkModel {
  @prop({ ref: "Vendor" })
  vendor?: string;
}

test("a reference by the name of a class that is used later shows nothing hidden", async (t) => {
  await using app = await mount([Product]);
  const { _id } = await getModel(Vendor).create({ name: "Ann", password: "s3cret" });
  await getModel(Product).create({ vendor: String(_id) });
  for (const path of ["/lean", "/fetched"]) {
    await t.step(path, async () => {
      const { status, text } = await app.get(path);
      assertEquals(status, 200, text);
      assertStringIncludes(text, "Ann");
      assertNotMatch(text, SECRET);
    });
  }
});

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";
const AGENT = { headers: { "x-role": "agent" } };

class Client extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ hidden: isCustomer })
  phone?: string;
}

@rest({ route: "/cases", methods: [all({ populate: { client: true } })] })
class Case extends FrameworkModel {
  declare client?: Ref<Client>;

  static override configure(schema: Schema): void {
    schema.add({ client: { type: ObjectId, ref: () => getModel(Client) } });
  }
}

test("a reference whose class a function gives shows each reader what that one may see", async () => {
  await using app = await mount([Case]);
  const { _id } = await getModel(Client).create({ name: "Ann", phone: "123" });
  await getModel(Case).create({ client: _id });
  const shown = async (options?: object) => {
    const [each] = await app.read<{ client: object }[]>("/cases?populate=client", options);
    return Object.keys(each?.client ?? {}).sort();
  };
  assertEquals(await shown(), ["__v", "_id", "name"]);
  assertEquals(await shown(AGENT), ["__v", "_id", "name", "phone"]);
});

@rest({ route: "/tags", methods: [all()] })
class Tag extends FrameworkModel {
  @prop()
  kind?: string;

  static override configure(schema: Schema): void {
    schema.virtual("target", {
      ref: (tag: Tag) => tag.kind,
      localField: "kind",
      foreignField: "name",
    });
  }
}

test("the class of a virtual reference may depend on the entity", async () => {
  await using app = await mount([Tag]);
  await getModel(Tag).create({ kind: "Client" });
  const [tag] = await app.read<EntityBody[]>("/tags");
  assertEquals(tag?.kind, "Client");
});

@rest({ route: "/people", methods: [all({ page: { max: 10 }, sort: ["phone"] })] })
class Person extends FrameworkModel {
  @prop({ transform: () => "***" })
  phone?: string;
}

test("the links of a list tell no value that its entities show otherwise", async () => {
  await using app = await mount([Person]);
  await getModel(Person).create([{ phone: "s3cret 1" }, { phone: "s3cret 2" }]);
  const pages = await readPages(app, "/people?sort=phone&limit=1");
  const bodies = pages.flatMap(({ body }) => body as EntityBody[]);
  assertEquals(bodies.map(({ phone }) => phone), ["***", "***"]);
  for (const page of pages) {
    for (const link of Object.values(linksOf(page))) {
      const after = new URL(link, app.url).searchParams.get("after") ?? "";
      assertNotMatch(Buffer.from(after, "base64url").toString("latin1"), SECRET);
    }
  }
});

class Cell extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  label?: string;
  @prop({ hidden: true })
  code?: string;
}

@rest({ route: "/boards", methods: [all({ fetch: () => getModel(Board).find().lean() })] })
class Board extends FrameworkModel {
  @arrayProp({ items: Map, of: Cell } as never)
  rows?: Map<string, Cell>[];
}

test("objects in an array of Maps show nothing hidden", async () => {
  await using app = await mount([Board]);
  await getModel(Board).create({ rows: [{ k: { label: "a", code: "s3cret" } }] });
  const [board] = await app.read<EntityBody[]>("/boards");
  assertEquals(board?.rows, [{ k: { label: "a" } }]);
});

/** What a schema without a class holds. */
interface Lock {
  label?: string;
  size?: number;
}

/** Makes a schema with a field that is hidden, as those of a class are. */
function lockSchema(): Schema {
  const size = { type: Number, hidden: true, max: 5 };
  return new mongoose.Schema({ label: String, size }, { _id: false });
}

@rest({ route: "/grids", methods: [all()] })
class Grid extends FrameworkModel {
  static override schemaOptions = { toJSON: { virtuals: true } };
  declare grid?: Lock[][];

  static override configure(schema: Schema): void {
    schema.add({ grid: [[lockSchema()]] });
  }
}

test("objects in an array of arrays show nothing hidden", async () => {
  await using app = await mount([Grid]);
  await getModel(Grid).create({ grid: [[{ label: "a", size: 4 }]] });
  const [entity] = await app.read<EntityBody[]>("/grids");
  assertEquals(entity?.grid, [[{ label: "a" }]]);
});

/** Makes a schema with a field that reads leave out. */
function unselectedSchema(): Schema {
  const size = { type: Number, select: false };
  return new mongoose.Schema({ label: String, size }, { _id: false });
}

const saveIt = (_req: FrameworkRequest, entity: Entity<Shelf>) => entity.save();

@rest({ route: "/shelves", methods: [all(), create({ persist: saveIt })] })
@rest({ route: "/shelves/hooked", methods: [all({ postFetch: pass })] })
@rest({ route: "/shelves/lean", methods: [all({ lean: true, postFetch: pass })] })
class Shelf extends FrameworkModel {
  @prop()
  name?: string;
  declare boxes?: Lock[][];

  static override configure(schema: Schema): void {
    schema.add({ boxes: [[unselectedSchema()]] });
  }
}

test("reads and persist leave out what is not selected in an array of arrays", async () => {
  await using app = await mount([Shelf]);
  const { _id } = await getModel(Shelf).create({ boxes: [[{ label: "a", size: 4 }]] });
  for (const path of ["/shelves", "/shelves/hooked", "/shelves/lean"]) {
    const [shelf] = await app.read<EntityBody[]>(path);
    assertEquals(shelf?.boxes, [[{ label: "a" }]], path);
  }
  const created = await app.post<EntityBody>("/shelves", { boxes: [[{ label: "b", size: 5 }]] });
  assertEquals(created.body.boxes, [[{ label: "b" }]], created.text);
  const stored = await getModel(Shelf).collection.findOne({ _id });
  assertEquals(stored?.boxes, [[{ label: "a", size: 4 }]]);
});

function setSize(_req: FrameworkRequest, door: Entity<Door>): Entity<Door> {
  door.locks = [[{ label: "a", size: 4712 }]];
  return door;
}

@rest({ route: "/doors", methods: [create({ preSave: setSize })] })
class Door extends FrameworkModel {
  declare locks?: Lock[][];

  static override configure(schema: Schema): void {
    schema.add({ locks: [[lockSchema()]] });
  }
}

test("no message tells what is hidden in an array of arrays", async () => {
  const told: string[] = [];
  const onError = (_req: unknown, error: unknown) => void told.push(String(error));
  await using app = await mount([Door], { onError });
  const { status, text } = await app.post("/doors", {});
  assertEquals(status, 500, text);
  assertMatch(told.join(), /"locks\.0\.0\.size"/);
  assertNotMatch(text + told, /4712/);
});

function spreadFirst(_req: FrameworkRequest, box: Entity<Box>): object {
  return { first: { ...box.locks?.[0] } };
}

@rest({ route: "/boxes", methods: [all({ postFetch: spreadFirst })] })
class Box extends FrameworkModel {
  declare locks?: Lock[];

  static override configure(schema: Schema): void {
    schema.add({ locks: [lockSchema()] });
  }
}

test("a schema that configure() adds hides its fields in spreads, and in JSON of the application", async () => {
  const prepare = (host: Express) =>
    void host.get("/own", async (_req, res) => void res.json(await getModel(Box).find()));
  await using app = await mount([Box], { prepare });
  await getModel(Box).create({ locks: [{ label: "a", size: 4 }] });
  assertEquals<unknown>(await app.read("/boxes"), [{ first: { label: "a" } }]);
  const [own] = await app.read<EntityBody[]>("/own");
  assertEquals(own?.locks, [{ label: "a" }]);
});
