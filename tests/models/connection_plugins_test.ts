// Runs alone: a test registers a plugin on Mongoose's default connection
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose, { type Connection, type Document, type Query, Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, mount, type Mounted } from "../support/support.ts";

/** Keeps removed entities from all queries. */
function softDelete(schema: Schema): void {
  const operations = [
    "find",
    "findOne",
    "countDocuments",
    "findOneAndUpdate",
    "updateOne",
  ] as const;
  const others = ["updateMany", "deleteOne", "deleteMany", "findOneAndDelete"] as const;
  const skip = function (this: Query<unknown, unknown>) {
    this.where({ isRemoved: { $ne: true } });
  };
  for (const name of [...operations, ...others]) schema.pre(name as "find", skip);
  schema.pre("aggregate", function () {
    this.pipeline().unshift({ $match: { isRemoved: { $ne: true } } });
  });
}

/** Counts in each document how often its middleware runs. */
function stamp(schema: Schema): void {
  schema.pre("validate", function (this: Document) {
    if (this.isNew) this.set("stamps", (this.get("stamps") ?? 0) + 1);
  });
}

class Part extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ type: Number })
  stamps?: number;
}

const connections: Record<string, Connection> = {};

const getConnection = ({ headers }: FrameworkRequest) =>
  connections[String(headers["x-tenant"])] ?? mongoose.connection;

class Base extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ type: Boolean })
  isRemoved?: boolean;
  @prop({ type: Number })
  stamps?: number;
  @rest({ route: "/parts", methods: [all(), create()] })
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
}

function pass<E>(_req: FrameworkRequest, entity: E): E {
  return entity;
}

/** Makes two classes, one of them with hooks: each has schemas of its own. */
function buildModels(): { readonly models: ModelClass[]; readonly paths: string[] } {
  const reads = { postFetch: pass, preSend: pass };
  const writes = { ...reads, preSave: pass };
  const methodsWith = (hooked: boolean) => [
    all<Base>(hooked ? reads as never : {}),
    one<Base>(hooked ? reads as never : {}),
    create<Base>(hooked ? writes as never : {}),
    update<Base>(hooked ? writes as never : {}),
    remove<Base>(),
    updateAll<Base>({ max: 9, fields: ["title"], atomic: false }),
    removeAll<Base>(),
  ];
  @rest({ route: "/plain", methods: methodsWith(false), getConnection })
  class Plain extends Base {}
  @rest({ route: "/hooked", methods: methodsWith(true), getConnection })
  class Hooked extends Base {}
  return { models: [Plain, Hooked], paths: ["/plain", "/hooked"] };
}

interface Tenants extends AsyncDisposable {
  readonly app: Mounted;
  readonly paths: readonly string[];
  readonly models: readonly ModelClass[];
  /** Speaks as one tenant. */
  readonly as: (name: string) => { readonly headers: Record<string, string> };
}

/** Serves two tenants: the connection of "soft" has plugins, that of "bare" has none. */
async function serveTenants(
  plugins = [softDelete, stamp],
  { models, paths } = buildModels(),
): Promise<Tenants> {
  const app = await mount(models);
  for (const name of ["bare", "soft", "again"]) {
    const uri = withDatabase(app.database.uri, `${app.database.connection.name}_${name}`);
    connections[name] = await mongoose.createConnection(uri).asPromise();
    if (name !== "bare") { for (const each of plugins) connections[name].plugin(each); }
  }
  return {
    ...{ app, paths, models },
    as: (name) => ({ headers: { "x-tenant": name } }),
    async [Symbol.asyncDispose]() {
      for (const [name, connection] of Object.entries(connections)) {
        await connection.dropDatabase();
        await connection.close();
        delete connections[name];
      }
      await app[Symbol.asyncDispose]();
    },
  };
}

/** Stores an entity that is removed, and one that is not, past Mongoose. */
async function storeTwo(name: string, model: ModelClass): Promise<[kept: string, removed: string]> {
  const { collection } = getModel(model, connections[name]);
  const kept = new mongoose.Types.ObjectId();
  const removed = new mongoose.Types.ObjectId();
  await collection.insertMany([
    { _id: kept, title: "kept", __v: 0 },
    { _id: removed, title: "removed", isRemoved: true, __v: 0 },
  ] as never);
  return [String(kept), String(removed)];
}

/** What each operation answers for an entity that is removed, and for all. */
async function answersTo(
  { app, as }: Tenants,
  { name, path, id }: { readonly name: string; path: string; id: string },
) {
  const { headers } = as(name);
  const statusOf = async (method: string, below: string, body?: unknown) =>
    (await app.send(method, `${path}${below}`, { headers, body })).status;
  const listed = async () => (await app.get<EntityBody[]>(path, { headers })).body.length;
  const told = {
    listed: await listed(),
    one: await statusOf("GET", `/${id}`),
    update: await statusOf("PATCH", `/${id}`, { title: "new" }),
    updateAll: await statusOf("PATCH", "?q={}", { title: "all" }),
    parts: await statusOf("GET", `/${id}/parts`),
    addPart: await statusOf("POST", `/${id}/parts`, { label: "a" }),
    remove: await statusOf("DELETE", `/${id}`),
  };
  const removeAll = await statusOf("DELETE", "?q={}");
  return { ...told, removeAll };
}

const SHOWN = {
  ...{ listed: 2, one: 200, update: 200, updateAll: 200, parts: 200, addPart: 201 },
  ...{ remove: 204, removeAll: 204 },
};

const KEPT_BACK = {
  ...SHOWN,
  listed: 1,
  one: 404,
  update: 404,
  parts: 404,
  addPart: 404,
  remove: 404,
};

for (const order of [["bare", "soft"], ["soft", "bare"]] as const) {
  test(`plugins bind on their own connection, where ${order[0]} is used first`, async () => {
    await using tenants = await serveTenants();
    const { app, paths, models } = tenants;
    for (const [index, path] of paths.entries()) {
      const model = models[index] as ModelClass;
      for (const name of order) {
        const [, removed] = await storeTwo(name, model);
        const told = await answersTo(tenants, { name, path, id: removed });
        assertEquals([path, name, told], [path, name, name === "soft" ? KEPT_BACK : SHOWN]);
        const left = await getModel(model, connections[name]).collection.find().toArray();
        const titles = left.map(({ title }) => title);
        assertEquals([name, titles], [name, name === "soft" ? ["removed"] : []]);
      }
    }
    assertEquals(app.database.connection.plugins, []);
  });
}

test("plugins run once for each entity and each embedded object, on their own connection", async () => {
  await using tenants = await serveTenants();
  const { app, paths, as } = tenants;
  for (const name of ["bare", "soft", "again", "bare", "soft"]) {
    for (const path of paths) {
      const entity = { title: "a", parts: [{ label: "b" }] };
      const { _id, stamps, parts } = await app.created(path, entity, as(name));
      const part = await app.created(`${path}/${_id}/parts`, { label: "c" }, as(name));
      const told = [stamps, (parts as Part[])[0]?.stamps, part.stamps];
      assertEquals([name, path, told], [
        name,
        path,
        Array(3).fill(name === "bare" ? undefined : 1),
      ]);
    }
  }
});

test("connections with the same plugins share a schema, and others do not", async () => {
  await using tenants = await serveTenants();
  const [model] = tenants.models as [ModelClass];
  const schemaOn = (name: string) => getModel(model, connections[name]).schema as object;
  assertEquals(schemaOn("soft") === schemaOn("again"), true);
  assertEquals(schemaOn("soft") === schemaOn("bare"), false);
  assertEquals(schemaOn("bare") === getModel(model).schema as object, true);
});

test("a plugin that shows other values does so on its own connection alone", async () => {
  const mask = (schema: Schema) => {
    schema.set("toJSON", { transform: (_doc, json) => ({ ...json, title: "***" }) });
  };
  await using tenants = await serveTenants([mask]);
  const { app, paths, as } = tenants;
  for (const name of ["bare", "soft", "bare"]) {
    for (const path of paths) {
      const { _id } = await app.created(path, { title: "a" }, as(name));
      const { title } = await app.read(`${path}/${_id}`, as(name));
      const [first] = await app.read<EntityBody[]>(path, as(name));
      const shown = name === "bare" ? "a" : "***";
      assertEquals([name, path, title, first?.title], [name, path, shown, shown]);
    }
  }
});

test("a cursor tells no value that a plugin of its connection shows otherwise", async () => {
  @rest({
    route: "/pages",
    methods: [all({ page: { max: 1 }, sort: ["title"] }), one()],
    getConnection,
  })
  class Page extends Base {}
  const mask = (schema: Schema) => {
    schema.set("toJSON", { transform: (_doc, json) => ({ ...json, title: "***" }) });
  };
  await using tenants = await serveTenants([mask], { models: [Page], paths: [] });
  const { app, as } = tenants;
  for (const name of ["bare", "soft"]) {
    await getModel(Page, connections[name]).create({ title: "TOLD" }, { title: "UNTOLD" });
    const { headers } = await app.get("/pages?sort=title", as(name));
    const after = /after=([\w-]+)/.exec(headers.get("link") ?? "")?.[1] ?? "";
    const tells = Buffer.from(after, "base64url").toString().includes("TOLD");
    assertEquals([name, after.length > 0, tells], [name, true, name === "bare"]);
  }
});

test("plugins bind to the kinds that configure() declares", async () => {
  @rest({ route: "/shapes", methods: [all(), create()], getConnection })
  class Shape extends FrameworkModel {
    @prop({ type: Number })
    stamps?: number;

    static override configure(schema: Schema) {
      schema.set("discriminatorKey", "kind");
      schema.discriminator("round", new Schema({ radius: Number }));
    }
  }
  await using tenants = await serveTenants([stamp], { models: [Shape], paths: [] });
  for (const name of ["bare", "soft", "bare"]) {
    const { stamps } = await tenants.app.created("/shapes", { kind: "round" }, tenants.as(name));
    assertEquals([name, stamps], [name, name === "bare" ? undefined : 1]);
  }
});

test("the plugins of the default connection bind there alone", async () => {
  const { plugins } = mongoose.connection;
  plugins.push([stamp, undefined]);
  try {
    await using tenants = await serveTenants([]);
    const { app, paths, as } = tenants;
    for (const name of ["bare", "default", "bare"]) {
      for (const path of paths) {
        const { stamps } = await app.created(path, { title: "a" }, as(name));
        assertEquals([name, path, stamps], [name, path, name === "bare" ? undefined : 1]);
      }
    }
  } finally {
    plugins.length = 0;
  }
});
