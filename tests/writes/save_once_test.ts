import { assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import { arrayProp, create, FrameworkModel, getModel, one, prop, type Ref } from "../../mod.ts";
import { remove, removeAll, rest, update } from "../../mod.ts";
import type { HooksOf, Method, ModelClass, RestOptions } from "../../mod.ts";
import { type Client, client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { gate } from "../support/race.ts";
import { asQuery, mount } from "../support/support.ts";

class Doc extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  state?: string;
  @prop()
  tenant?: string;
  @arrayProp({ items: String })
  tags?: string[];
}

/** Makes a model of its own on `/docs`. */
function made(
  methods: Method<HooksOf<Doc>>[],
  { configure = () => {}, schemaOptions = {}, ...options }:
    & { configure?: (schema: Schema) => void }
    & Pick<RestOptions, "scope" | "schemaOptions"> = {},
): ModelClass<Doc> {
  const collection = `docs_${crypto.randomUUID().slice(0, 8)}`;
  @rest({
    route: "/docs",
    methods,
    schemaOptions: { collection, ...schemaOptions },
    ...options,
  })
  class Made extends Doc {
    static override configure = configure;
  }
  return Made;
}

/** Stores one entity, and gives its path. */
async function store(model: ModelClass<Doc>, fields: object): Promise<string> {
  const { _id } = await getModel(model).create(fields as never) as { _id: unknown };
  return `/docs/${_id}`;
}

async function stored(model: ModelClass): Promise<Record<string, unknown>[]> {
  return await getModel(model).collection.find().sort({ _id: 1 }).toArray();
}

/** Sends bodies to one entity at once, and gives the statuses in order. */
async function patchAll({ patch }: Client, bodies: readonly object[]): Promise<number[]> {
  const replies = await Promise.all(bodies.map((body) => patch("", body)));
  return replies.map(({ status }) => status).sort();
}

/** Eight bodies that are not the same. */
function eight(field: string): object[] {
  return Array.from({ length: 8 }, (_, index) => ({ [field]: `${field}${index}` }));
}

test("save middleware runs once for each request when another one changes the entity", async () => {
  for (const versionKey of ["__v", false]) {
    const runs = { validate: 0, pre: 0, post: 0 };
    const model = made([update({ preSave: gate(8) })], {
      schemaOptions: { versionKey: versionKey as never },
      configure(schema) {
        schema.pre("validate", () => void runs.validate++);
        schema.pre("save", function (this: { name?: string }) {
          runs.pre++;
          this.name = `hashed(${this.name})`;
        });
        schema.post("save", () => void runs.post++);
      },
    });
    await using app = await mount([model]);
    const path = await store(model, { name: "n", tags: ["a"] });
    Object.assign(runs, { validate: 0, pre: 0, post: 0 });
    const bodies = [{ tags: ["b"] }, ...eight("state").slice(1)];
    assertEquals(await patchAll(client(app.url + path), bodies), Array(8).fill(200));
    assertEquals(runs, { validate: 8, pre: 8, post: 8 });
    const [left] = await stored(model);
    assertEquals([left?.name, left?.tags], ["hashed(hashed(n))", ["b"]]);
  }
});

test("middleware may save the document again after the write", async () => {
  const model = made([create({ preSave }), update({ preSave })], {
    scope: () => ({ tenant: { $in: ["A", "B"] } }),
    configure(schema) {
      schema.post("save", async function (this: mongoose.Document) {
        if (this.get("name") !== "more") return;
        this.set({ name: "done", tags: ["after"] });
        await this.save();
      });
    },
  });
  await using app = await mount([model]);
  await app.created("/docs", { tenant: "A", name: "more" });
  const path = await store(model, { tenant: "A", state: "open", tags: ["a"] });
  const url = `${path}${asQuery({ state: "open" })}`;
  const body = { name: "more", state: "shut", tenant: "B", tags: ["b"] };
  assertEquals((await app.patch(url, body)).status, 200);
  const left = await stored(model);
  assertEquals(left.map(({ name, tags }) => [name, tags]), Array(2).fill(["done", ["after"]]));
});

test("middleware of removed elements runs once before the write, and once after it", async () => {
  class Item extends FrameworkModel {
    static runs: string[] = [];
    static override configure(schema: Schema): void {
      const document = { document: true, query: false } as const;
      schema.pre("deleteOne", document, () => void Item.runs.push("pre"));
      schema.post("deleteOne", document, () => void Item.runs.push("post"));
    }
    @prop()
    text?: string;
  }
  const methods = [update<Holder>({
    preSave(_req, entity) {
      const [first] = entity.items as unknown as mongoose.Document[];
      void first?.deleteOne();
      return entity;
    },
  })];
  @rest({ route: "/holders", methods })
  class Holder extends FrameworkModel {
    @arrayProp({ items: Item, embedded: true })
    items?: Item[];
  }
  await using app = await mount([Holder]);
  const { _id } = await getModel(Holder).create({ items: [{ text: "a" }, { text: "b" }] } as never);
  const { status, body } = await app.patch(`/holders/${_id}`, {});
  assertEquals([status, (body.items as unknown as Item[]).map(({ text }) => text)], [200, ["b"]]);
  assertEquals(Item.runs, ["pre", "post"]);
});

test("a condition that middleware puts on the write binds it too, and leaves with it", async () => {
  const model = made([update()], {
    configure(schema) {
      schema.pre("save", function (this: mongoose.Document) {
        if (this.get("name") === "bound") this.$where = { state: "open", $and: [{ tenant: "A" }] };
      });
    },
  });
  await using app = await mount([model]);
  const patch = (path: string) => app.patch(path, { name: "bound" });
  for (
    const [fields, status] of [[{ state: "open", tenant: "A" }, 200], [{ state: "open" }, 409]]
  ) {
    assertEquals((await patch(await store(model, fields as object))).status, status);
  }
});

test("increment() and optimisticConcurrency bind an update to the version", async () => {
  const increments = {
    configure: (schema: Schema) =>
      void schema.pre("save", function (this: mongoose.Document) {
        this.increment();
      }),
  };
  for (
    const [options, statuses] of [
      [increments, [200, 409]],
      [{ schemaOptions: { optimisticConcurrency: true } }, [200, 409]],
      [{ schemaOptions: { optimisticConcurrency: ["name"] } }, [200, 409]],
      [{ schemaOptions: { optimisticConcurrency: ["tenant"] } }, [200, 200]],
    ] as const
  ) {
    const model = made([update({ preSave: gate(2) })], options as object);
    await using app = await mount([model]);
    const doc = client(app.url + await store(model, { name: "n" }));
    const found = await patchAll(doc, [{ name: "a" }, { name: "b" }]);
    assertEquals(found, statuses as unknown as number[], JSON.stringify(options));
    const counted = found.filter((status) => status === 200).length;
    assertEquals((await stored(model))[0]?.__v, counted);
  }
});

mongoose.plugin((schema: Schema) => {
  schema.pre("save", function (this: mongoose.Document) {
    this.set("tenant", this.get("name") === "moves" ? "B" : "A");
  });
}, { tags: ["tenants"] } as never);

test("scope is judged after the middleware of plugins of all schemas", async () => {
  const model = made([create(), update()], {
    scope: () => ({ tenant: "A" }),
    schemaOptions: { pluginTags: ["tenants"] },
  });
  await using app = await mount([model]);
  const { _id, tenant } = await app.created("/docs", { name: "a" });
  assertEquals(tenant, "A");
  assertEquals((await app.post("/docs", { name: "moves" })).status, 403);
  assertEquals((await app.patch(`/docs/${_id}`, { name: "b" })).status, 200);
  assertEquals((await app.patch(`/docs/${_id}`, { name: "moves" })).status, 403);
  const left = await stored(model);
  assertEquals(left.map(({ name, tenant, __v }) => [name, tenant, __v]), [["b", "A", 1]]);
});

test("scope is judged on what is stored when two updates leave it together", async () => {
  const scope = () => ({ $or: [{ tenant: "A" }, { state: "open" }] });
  const model = made([update({ preSave: gate(2) })], { scope });
  await using app = await mount([model]);
  const path = await store(model, { tenant: "A", state: "open" });
  const bodies = [{ tenant: "B" }, { state: "shut" }];
  const doc = client(app.url + path);
  assertEquals(await patchAll(doc, bodies), [200, 409]);
  assertEquals((await stored(model))[0]?.__v, 1);
  assertEquals(await patchAll(doc, bodies), [200, 403]);
});

test("scope is judged without defaults that are not stored", async () => {
  const scope = () => ({ $or: [{ name: "n" }, { state: "open" }] });
  const model = made([update()], {
    scope,
    configure: (schema) => void schema.path("state").default("open"),
  });
  await using app = await mount([model]);
  const path = await store(model, { name: "n" });
  await getModel(model).collection.updateMany({}, { $unset: { state: 1 } });
  assertEquals((await app.patch(path, { name: "m" })).status, 403);
  assertEquals((await stored(model))[0]?.name, "n");
});

test("q binds the write of update() when hooks or a scope have read the entity", async () => {
  for (const scope of [undefined, () => ({ tenant: "A" })]) {
    const preSave = gate(8);
    const model = made([update({ preSave })], scope && { scope });
    await using app = await mount([model]);
    const path = await store(model, { tenant: "A", state: "open" });
    const open = client(`${app.url}${path}${asQuery({ state: "open" })}`);
    const statuses = await patchAll(open, eight("state"));
    assertEquals(statuses, [200, ...Array(7).fill(409)]);
    assertEquals((await stored(model))[0]?.__v, 1);
  }
});

test("q binds the write of update() without any hook, round after round", async () => {
  for (const options of [{}, { scope: () => ({ tenant: "A" }) }]) {
    const model = made([update()], options);
    await using app = await mount([model]);
    for (let round = 0; round < 10; round++) {
      const path = await store(model, { tenant: "A" });
      const first = client(`${app.url}${path}${asQuery({ __v: 0 })}`);
      const statuses = await patchAll(first, eight("name"));
      assertEquals(statuses.filter((status) => status === 200).length, 1, String(statuses));
      assertEquals(statuses.every((status) => [200, 404, 409].includes(status)), true);
    }
    assertEquals((await stored(model)).every(({ __v }) => __v === 1), true);
  }
});

test("q and its collation bind the write when a hook has set one", async () => {
  const preFetch = (req: { framework: { options: Record<string, unknown> } }) => {
    req.framework.options.collation = { locale: "en", strength: 2 };
    return true;
  };
  for (const versionKey of ["__v", false]) {
    const methods = [update({ preFetch, preSave: gate(3) }), remove({ preFetch })];
    const model = made(methods, { schemaOptions: { versionKey: versionKey as never } });
    await using app = await mount([model]);
    const path = await store(model, { state: "open" });
    const url = `${path}${asQuery({ state: "OPEN" })}`;
    const bodies = [{ state: "shut" }, { state: "gone" }, { state: "away" }];
    assertEquals(await patchAll(client(app.url + url), bodies), [200, 409, 409]);
    await getModel(model).updateMany({}, { state: "open" });
    assertEquals((await app.patch(url, { name: "n" })).status, 200);
    assertEquals((await app.delete(url)).status, 204);
  }
});

test("q binds the write of remove() and removeAll() when hooks have read the entities", async () => {
  const close = async <T extends { _id: unknown }>(_req: unknown, entity: T) => {
    const shut = { $set: { state: "shut" } };
    await getModel(model).collection.updateOne({ _id: entity._id, name: "a" } as never, shut);
    return entity;
  };
  const model = made([remove({ preSave: close }), removeAll({ preSave: close })]);
  await using app = await mount([model]);
  const query = asQuery({ state: "open" });
  const path = await store(model, { name: "a", state: "open" });
  assertEquals((await app.delete(`${path}${query}`)).status, 409);
  await getModel(model).updateMany({}, { state: "open" });
  await store(model, { name: "b", state: "open" });
  assertEquals((await app.delete(`/docs${query}`)).status, 204);
  assertEquals((await stored(model)).map(({ name, state }) => [name, state]), [["a", "shut"]]);
});

/** The hook that a test has set. */
const hook: { passes: <T>(req: unknown, entity: T) => Promise<T> | T } = {
  passes: (_req, entity) => entity,
};
const preSave = <T>(req: unknown, entity: T) => hook.passes(req, entity);

class Part extends FrameworkModel {
  @prop()
  state?: string;
}

@rest({ route: "/wholes", methods: [one()] })
class Whole extends FrameworkModel {
  @rest({ methods: [update({ preSave }), remove({ preSave })] })
  @arrayProp({ items: Part })
  parts?: Ref<Part>[];
}

test("q binds the write of a reference when hooks have read the entity", async () => {
  await using app = await mount([Whole]);
  const part = await getModel(Part).create({ state: "open" });
  const whole = await getModel(Whole).create({ parts: [part._id] } as never);
  const url = `${app.url}/wholes/${(whole as { _id: unknown })._id}/parts/${part._id}`;
  const open = client(`${url}${asQuery({ state: "open" })}`);
  hook.passes = gate(8);
  const statuses = await patchAll(open, eight("state"));
  assertEquals(statuses, [200, ...Array(7).fill(409)]);
  await getModel(Part).updateMany({}, { state: "open" });
  hook.passes = async (_req, entity) => {
    await getModel(Part).updateMany({}, { state: "shut" });
    return entity;
  };
  assertEquals((await open.delete()).status, 409);
  assertEquals(await getModel(Part).countDocuments(), 1);
});

test("remove() runs no setter on a literal of q a second time", async () => {
  @rest({ route: "/prices", methods: [remove({ preSave: (_req, entity) => entity })] })
  class Price extends FrameworkModel {
    @prop({ type: Number })
    price?: number;

    static override configure(schema: Schema): void {
      schema.path("price").set((value: number) => value * 100);
    }
  }
  await using app = await mount([Price]);
  const { collection } = getModel(Price);
  for (const price of [5, { $in: [5, 6] }]) {
    const { insertedId } = await collection.insertOne({ price: 500 } as never);
    const url = `/prices/${insertedId}${asQuery({ price })}`;
    assertEquals((await app.delete(url)).status, 204);
  }
  assertEquals(await collection.countDocuments(), 0);
});
