import { assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import type { RouteDescription } from "../../mod.ts";
import type { FieldDescription } from "../../src/describe/describe_object.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

class Address extends FrameworkModel {
  @prop({ required: true })
  city!: string;

  @prop({ hidden: true })
  code?: string;
}

@rest({ route: "/owners", methods: [one()] })
class Owner extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

@rest({
  route: "/shops",
  methods: [
    all({ preFetch: () => true, postFetch: (_req, shop) => shop }),
    one(),
    create(),
    update(),
    remove(),
    removeAll(),
  ],
  schemaOptions: { timestamps: true },
})
class Shop extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ required: true, default: "open" })
  state!: string;

  @prop({ type: Number, readonly: true })
  rank?: number;

  @prop({ hidden: true })
  secret?: string;

  @prop({ type: Number, select: false })
  cost?: number;

  @prop({ type: Object })
  extra?: Record<string, unknown>;

  @prop({ type: Map, of: Number })
  stock?: Map<string, number>;

  @prop({ ref: Owner })
  owner?: Ref<Owner>;

  @prop({ type: Address })
  address?: Address;

  @rest({ methods: [all(), one(), create()] })
  @arrayProp({ items: Address, embedded: true })
  branches?: Address[];

  @arrayProp({ items: String })
  tags?: string[];
}

class Folder extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @arrayProp({ items: () => Folder, embedded: true })
  folders?: Folder[];
}

@rest({ route: "/trees", methods: [one()] })
class Tree extends FrameworkModel {
  @prop({ type: Folder })
  root?: Folder;
}

const SHOPS = Framework.describe({ models: [Shop] });

function routeOf(operation: string, path: string): RouteDescription {
  const route = SHOPS.find((each) => each.operation === operation && each.path === path);
  if (route === undefined) throw new Error(`There is no ${operation} at ${path}`);
  return route;
}

function fieldOf(fields: readonly FieldDescription[] | undefined, name: string) {
  return fields?.find((field) => field.name === name);
}

/** The metadata of a class that is decorated by hand. */
function metadataOf(target: object): object {
  const metadata = (target as { [Symbol.metadata]?: object })[Symbol.metadata] ?? {};
  Object.defineProperty(target, Symbol.metadata, { value: metadata, configurable: true });
  return metadata;
}

const namesOf = (fields: readonly FieldDescription[] = []) => fields.map(({ name }) => name);

Deno.test("describe() gives the routes that are mounted, sub-routes included, and no others", () => {
  assertEquals(
    SHOPS.map(({ method, path, operation, model }) => `${method} ${path} ${operation} ${model}`),
    [
      "GET /shops all Shop",
      "POST /shops create Shop",
      "DELETE /shops removeAll Shop",
      "GET /shops/:id one Shop",
      "PATCH /shops/:id update Shop",
      "DELETE /shops/:id remove Shop",
      "GET /shops/:id/branches all Address",
      "POST /shops/:id/branches create Address",
      "GET /shops/:id/branches/:subId one Address",
    ],
  );
});

Deno.test("describe() gives the parameters of the path and of the query string", () => {
  const named = (route: RouteDescription) => route.parameters.map((each) => each.name);
  assertEquals(named(routeOf("all", "/shops")), ["q"]);
  assertEquals(named(routeOf("create", "/shops")), []);
  assertEquals(named(routeOf("one", "/shops/:id/branches/:subId")), ["id", "subId", "q"]);
  assertEquals(routeOf("one", "/shops/:id").parameters, [
    { name: "id", in: "path", required: true },
    { name: "q", in: "query", required: false },
  ]);
});

Deno.test("describe() gives hooks by name", () => {
  assertEquals(routeOf("all", "/shops").hooks, ["preFetch", "postFetch"]);
  assertEquals(routeOf("one", "/shops/:id").hooks, []);
});

Deno.test("an answer is described without hidden and select: false fields", () => {
  assertEquals(namesOf(routeOf("one", "/shops/:id").answer), [
    ...["_id", "createdAt", "updatedAt", "name", "state", "rank", "extra", "stock", "owner"],
    ...["address", "branches", "tags", "__v"],
  ]);
  assertEquals(namesOf(routeOf("all", "/shops/:id/branches").answer), ["_id", "city"]);
});

Deno.test("an answer without a body has no fields", () => {
  assertEquals(routeOf("remove", "/shops/:id").answer, []);
  assertEquals(routeOf("removeAll", "/shops").answer, []);
});

Deno.test("a body is described by the fields that it may set", () => {
  const { body } = routeOf("create", "/shops");
  assertEquals(namesOf(body), [
    ...["name", "state", "secret", "cost", "extra", "stock", "owner", "address", "branches"],
    "tags",
  ]);
  assertEquals(routeOf("all", "/shops").body, undefined);
  assertEquals(routeOf("remove", "/shops/:id").body, undefined);
});

Deno.test("a field is required in a new entity unless it has a default, and never in a patch", () => {
  const { body } = routeOf("create", "/shops");
  const { body: patch, answer } = routeOf("update", "/shops/:id");
  assertEquals(fieldOf(body, "name")?.required, true);
  assertEquals(fieldOf(body, "state")?.required, false);
  assertEquals(fieldOf(patch, "name")?.required, false);
  assertEquals(fieldOf(answer, "state")?.required, true);
});

Deno.test("a patch merges into an embedded object, and replaces the elements of an array", () => {
  const { body } = routeOf("update", "/shops/:id");
  assertEquals(fieldOf(fieldOf(body, "address")?.fields, "city")?.required, false);
  assertEquals(fieldOf(fieldOf(body, "branches")?.items?.fields, "city")?.required, true);
});

Deno.test("a field that no body sets is readonly in the answer", () => {
  const { answer } = routeOf("one", "/shops/:id");
  const readonly = answer.filter((field) => field.readonly);
  assertEquals(namesOf(readonly), ["_id", "createdAt", "updatedAt", "rank", "__v"]);
});

Deno.test("fields have types, and name the class that they hold or refer to", () => {
  const { answer } = routeOf("one", "/shops/:id");
  const rest = { required: false, readonly: false };
  assertEquals(fieldOf(answer, "tags"), {
    name: "tags",
    type: "Array",
    items: { type: "String", nullable: true },
    ...rest,
    required: true,
  });
  assertEquals(fieldOf(answer, "stock"), {
    name: "stock",
    type: "Map",
    // An empty text is read as null
    items: { type: "Number", nullable: true },
    ...rest,
  });
  assertEquals(fieldOf(answer, "owner"), {
    name: "owner",
    type: "ObjectId",
    model: "Owner",
    ...rest,
  });
  assertEquals(fieldOf(answer, "extra"), { name: "extra", type: "Object", ...rest });
  assertEquals(fieldOf(answer, "address")?.model, "Address");
  assertEquals(namesOf(fieldOf(answer, "address")?.fields), ["_id", "city"]);
});

Deno.test("a model that embeds itself is described once on each way", () => {
  const [tree] = Framework.describe({ models: [Tree] });
  const root = fieldOf(tree?.answer, "root");
  const inner = fieldOf(root?.fields, "folders");
  assertEquals(inner?.items, { type: "Embedded", model: "Folder", nullable: true });
  assertEquals(JSON.parse(JSON.stringify(tree)), tree);
});

Deno.test("models that embed each other are described once each", () => {
  const count = 6;
  const classes: (typeof FrameworkModel)[] = Array.from({ length: count }, () => {
    return class Node extends FrameworkModel {};
  });
  for (const each of classes) {
    for (let index = 0; index < count; index++) {
      const context = { kind: "field", name: `to${index}`, metadata: metadataOf(each) };
      const items = () => classes[index] as typeof Owner;
      arrayProp({ items, embedded: true })(undefined, context as never);
    }
  }
  rest({ route: "/nodes", methods: [one()] })(classes[0] as typeof Owner, {
    ...{ kind: "class", metadata: metadataOf(classes[0] as typeof Owner), addInitializer() {} },
  } as never);
  const described = Framework.describe({ models: [classes[0] as typeof Owner] });
  assertEquals(JSON.stringify(described).length < 40_000, true);
});

Deno.test("the router of initialize() describes what it has mounted", () => {
  const router = Framework.initialize({ models: [Owner] });
  assertEquals(router.describe(), Framework.describe({ models: [Owner] }));
});

Deno.test("describe() compiles no model", () => {
  @rest({ route: "/drafts", methods: [one()] })
  class Draft extends FrameworkModel {
    @prop()
    text?: string;
  }
  Framework.describe({ models: [Draft] });
  assertEquals(mongoose.modelNames().includes("Draft"), false);
});

Deno.test("describe() refuses what initialize() refuses", () => {
  assertThrows(() => Framework.describe({ models: [] }), TypeError, "no model is registered");
});

test("an answer has exactly the fields that its description names", async () => {
  await using api = await mount([Shop, Owner]);
  const shop = await api.created("/shops", {
    ...{ name: "Roma", state: "open", secret: "s", cost: 5, extra: { a: 1 }, stock: { a: 1 } },
    ...{ owner: new mongoose.Types.ObjectId(), tags: ["a"] },
    ...{ address: { city: "Rome", code: "c" }, branches: [{ city: "Pisa", code: "c" }] },
  });
  const { answer } = routeOf("create", "/shops");
  const set = namesOf(answer).filter((name) => name !== "rank");
  assertEquals(Object.keys(shop).sort(), set.sort());
  const [branch] = shop.branches as [object];
  const { answer: inner } = routeOf("one", "/shops/:id/branches/:subId");
  assertEquals(Object.keys(branch).sort(), namesOf(inner).sort());
});

Deno.test("initialize({ log: true }) prints a line for each route, with the plan of a read", () => {
  const { info } = console;
  const lines: unknown[] = [];
  console.info = (line: unknown) => lines.push(line);
  try {
    Framework.initialize({ models: [Owner] });
    Framework.initialize({ models: [Owner], log: true });
  } finally {
    console.info = info;
  }
  assertEquals(lines, [
    "GET    /owners/:id  one  Owner  everybody  bytes (no hook gets an entity)",
  ]);
});
