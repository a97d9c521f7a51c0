import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  removeAll,
  rest,
  type Restricted,
  updateAll,
} from "../../mod.ts";
import { EveryType } from "../fixtures/every_type.ts";
import { documentOf, mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";
import { asQuery } from "../support/support.ts";

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";
const filter = ["title", "inner.year", "cost", "codes"] as const;

class Inner extends FrameworkModel {
  @prop({ type: Number, hidden: isCustomer })
  cost?: Restricted<number>;
  @prop({ type: Number, min: 1900 })
  year?: number;
}

@rest({
  route: "/numbers",
  methods: [
    all(),
    one(),
    create(),
    updateAll({ fields: ["state"], max: 10, atomic: false }),
    removeAll(),
  ],
})
class Numbers extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ enum: ["open", "done"] })
  state?: string;
  @prop({ type: Number, min: 5 })
  size?: number;
}

@rest({ route: "/states", methods: [all()] })
class States extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ enum: ["open", "done"] })
  state?: string;
}

@rest({ route: "/dates", methods: [all()] })
class Dates extends FrameworkModel {
  @prop({ type: Boolean })
  flag?: boolean;
  @prop({ type: Date })
  at?: Date;
}

@rest({ route: "/texts", methods: [all({ filter })] })
class Texts extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ type: Number })
  unlisted?: number;
  @prop({ type: Number, hidden: isCustomer })
  cost?: Restricted<number>;
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: String })
  codes?: string[];
}

@rest({ route: "/parts", methods: [all()] })
class Parts extends FrameworkModel {
  @prop({ type: Number, hidden: isCustomer })
  cost?: Restricted<number>;
  @prop({ type: Inner, hidden: isCustomer })
  secret?: Restricted<Inner>;
  @arrayProp({ items: Inner, embedded: true })
  inner?: Inner[];
}

@rest({ route: "/secrets", methods: [all()] })
class Secrets extends FrameworkModel {
  @prop({ type: Number, hidden: true })
  cost?: number;
  @prop({ hidden: isCustomer })
  note?: Restricted<string>;
  @prop({ set: (text: string) => text.trim() })
  text?: string;
  @prop({ type: Object })
  free?: object;
}

const MODELS = [Numbers, States, Dates, Texts, Parts, Secrets];

type Known = Awaited<ReturnType<typeof documentOf>>;

function exampleAt({ operation }: Known, method: string, path: string): unknown {
  const q = operation(method, path).parameters?.find(({ name }) => name === "q");
  return q?.content?.["application/json"]?.example;
}

test("the example of q names a path that every reader may name, and comparisons before values", async () => {
  const known = await documentOf(MODELS);
  const examples = MODELS.map(({ name }) => exampleAt(known, "GET", `/${name.toLowerCase()}`));
  assertEquals(examples, [
    { size: { $gte: 5 } },
    { state: "open" },
    { at: { $gte: "2020-01-01T00:00:00.000Z" } },
    { title: { $regex: "e", $options: "i" } },
    { "inner.year": { $gte: 1900 } },
    {},
  ]);
});

test("the server takes each example of q from every reader", async () => {
  await using app = await mountDocumented([...MODELS, EveryType]);
  for (const [path, item] of Object.entries(app.document.paths)) {
    if (item.get === undefined || path.includes("{")) continue;
    const example = exampleAt(app, "GET", path);
    for (const headers of [{}, { "x-role": "agent" }]) {
      const { status, text } = await app.get(`${path}${asQuery(example)}`, { headers });
      assertEquals([path, example, status], [path, example, 200], text);
    }
  }
});

test("the example of q for a write of many selects nothing, and that for one entity is empty", async () => {
  await using app = await mountDocumented(MODELS);
  await app.created("/numbers", { size: 7, state: "open" });
  assertEquals(exampleAt(app, "GET", "/numbers/{id}"), {});
  const q = (method: string) => `/numbers${asQuery(exampleAt(app, method, "/numbers"))}`;
  assertEquals((await app.patch(q("PATCH"), { state: "done" })).status, 200);
  assertEquals((await app.delete(q("DELETE"))).status, 204);
  const left = await app.read<{ state: string }[]>(q("GET"));
  assertEquals(left.map(({ state }) => state), ["open"]);
});

const SIZES = { fields: ["size"], max: 10, atomic: false } as const;

@rest({
  route: "/listed",
  methods: [
    all({ filter: ["size"] }),
    create(),
    updateAll({ ...SIZES, filter: ["size"] }),
    removeAll({ filter: ["size"] }),
  ],
})
class Listed extends FrameworkModel {
  @prop({ type: Number })
  size?: number;
}

@rest({ route: "/coded", methods: [all(), create(), updateAll(SIZES), removeAll()] })
class Coded extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.add({ _id: String });
  }
  @prop({ type: Number })
  size?: number;
}

for (const [path, body] of [["/listed", { size: 7 }], ["/coded", { _id: "a", size: 7 }]] as const) {
  test(`the example of q for a write of ${path}, without an ObjectId, selects nothing`, async () => {
    await using app = await mountDocumented([Listed, Coded]);
    await app.created(path, body);
    const q = (method: string) => `${path}${asQuery(exampleAt(app, method, path))}`;
    assertEquals((await app.patch(q("PATCH"), { size: 8 })).status, 200);
    assertEquals((await app.delete(q("DELETE"))).status, 204);
    assertEquals((await app.read<{ size: number }[]>(path)).map(({ size }) => size), [7]);
  });
}
