import { assertEquals, assertMatch } from "@std/assert";
import mongoose from "mongoose";
import type { Connection, Schema } from "mongoose";
import { all, create, FrameworkModel, getModel, prop, rest, RestError } from "../../../mod.ts";
import type { ModelClass, RestOptions } from "../../../mod.ts";
import { withDatabase } from "../../harness/database_uri.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

/** Makes a class whose list has groups by its name. */
function grouped(
  configure: (schema: Schema) => void = () => {},
  options: Pick<RestOptions, "getConnection" | "schemaOptions"> = {},
): ModelClass {
  const groups = { by: ["name"] as const, count: true, sum: ["size"] as const };
  @rest({ route: "/boxes", methods: [all({ groups }), create()], ...options })
  class Box extends FrameworkModel {
    static override configure(schema: Schema) {
      configure(schema);
    }
    @prop()
    name?: string;
    @prop({ type: Number })
    size?: number;
    @prop({ type: Boolean })
    isRemoved?: boolean;
  }
  return Box;
}

/** Leaves out of each find() what is removed. */
function softDelete(schema: Schema): void {
  schema.pre("find", function () {
    this.where({ isRemoved: { $ne: true } });
  });
}

/** Marks each name in JSON. */
function maskNames(schema: Schema): void {
  schema.set("toJSON", { transform: (_doc, json) => ({ ...json, name: "***" }) });
}

mongoose.plugin(softDelete, { tags: ["soft-delete"] } as never);
mongoose.plugin((schema) => {
  softDelete(schema);
  schema.pre("aggregate", function () {
    this.pipeline().unshift({ $match: { isRemoved: { $ne: true } } });
  });
}, { tags: ["soft-delete-all"] } as never);
mongoose.plugin(maskNames, { tags: ["mask"] } as never);

const ROWS = [
  { name: "a", size: 1 },
  { name: "a", size: 2, isRemoved: true },
  { name: "b", size: 4 },
];

for (const tag of ["soft-delete", "mask"]) {
  test(`groups are refused where the plugin ${tag} of all schemas shows other entities in lists`, async () => {
    const model = grouped(undefined, { schemaOptions: { pluginTags: [tag] } });
    const errors: unknown[] = [];
    await using app = await mount([model], { onError: (_req, error) => void errors.push(error) });
    await getModel(model).collection.insertMany(ROWS);
    assertEquals((await app.get("/boxes?group=name")).status, 500);
    assertMatch(errors.join(), /^TypeError: Cannot aggregate "Box.*": a plugin/);
    const names = (await app.read<{ name: string }[]>("/boxes")).map(({ name }) => name);
    assertEquals(names, tag === "mask" ? ["***", "***", "***"] : ["a", "b"]);
  });
}

test("a plugin of all schemas decides by middleware of aggregate() what groups are of", async () => {
  const model = grouped(undefined, { schemaOptions: { pluginTags: ["soft-delete-all"] } });
  await using app = await mount([model]);
  await getModel(model).collection.insertMany(ROWS);
  assertEquals(await app.read<unknown>("/boxes?group=name&sum=size"), [
    { name: "a", count: 1, sum: { size: 1 } },
    { name: "b", count: 1, sum: { size: 4 } },
  ]);
});

test("groups are of entities of all kinds of a model", async () => {
  const model = grouped((schema) => {
    schema.discriminator("Crate", new mongoose.Schema({ lid: String }));
  });
  await using app = await mount([model]);
  await getModel(model).collection.insertMany([...ROWS, { name: "b", size: 8, __t: "Crate" }]);
  assertEquals(await app.read<unknown>("/boxes?group=name&sum=size"), [
    { name: "a", count: 2, sum: { size: 3 } },
    { name: "b", count: 2, sum: { size: 12 } },
  ]);
});

test("groups are refused where a kind of the model shows something else", async () => {
  const kind = new mongoose.Schema({ lid: String });
  maskNames(kind);
  const model = grouped((schema) => void schema.discriminator("Crate", kind));
  await using app = await mount([model], { onError: () => {} });
  await getModel(model).collection.insertMany([{ name: "secret", __t: "Crate" }]);
  assertEquals((await app.read<{ name: string }[]>("/boxes"))[0]?.name, "***");
  assertEquals((await app.get("/boxes?group=name")).status, 500);
});

/** Opens a connection with an entity to a database of its own. */
async function openTenant(name: string): Promise<Connection> {
  const database = `mongrove_groups_${crypto.randomUUID().slice(0, 8)}`;
  const uri = withDatabase(Deno.env.get("MONGODB_URI") ?? "", database);
  const connection = await mongoose.createConnection(uri).asPromise();
  await connection.collection("boxes").insertOne({ name, size: 1 });
  return connection;
}

test("groups are of the connection that getConnection gives", async () => {
  const open: Record<string, Connection> = { a: await openTenant("a"), b: await openTenant("b") };
  const model = grouped(undefined, {
    getConnection: (req) => {
      const connection = open[String(req.get("x-tenant"))];
      if (connection === undefined) throw new RestError(404, { code: "NO_TENANT" });
      return connection;
    },
  });
  await using app = await mount([model]);
  const of = (tenant: string) =>
    app.get("/boxes?group=name&sum=size", { headers: { "x-tenant": tenant } });
  for (const name of ["a", "b"]) {
    assertEquals<unknown>((await of(name)).body, [{ name, count: 1, sum: { size: 1 } }]);
  }
  assertEquals((await of("c")).status, 404);
  for (const connection of Object.values(open)) {
    await connection.dropDatabase();
    await connection.close();
  }
});
