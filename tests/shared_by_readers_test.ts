import { AsyncLocalStorage } from "node:async_hooks";
import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Query, Schema } from "mongoose";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../mod.ts";
import { watchCommands } from "./both_paths.ts";
import { test } from "./harness/testing.ts";
import { gate } from "./race.ts";
import { type EntityBody, mount } from "./support.ts";

/** Who sends the request in which the host's code runs. */
const reader = new AsyncLocalStorage<string>();

/** Holds requests until all that are to meet are here: then they go on in the same turn. */
let meet = gate(1);

function withLongFilter(req: FrameworkRequest): Promise<boolean> {
  req.framework.filter.name = { $ne: LONG };
  return meet(req, true);
}

const preFetch = (req: FrameworkRequest) => meet(req, true);

function bind(this: Query<unknown, unknown>): void {
  const tenant = reader.getStore();
  if (tenant !== undefined) this.where({ tenant });
}

/** A value that shows itself as a text alone. */
class Tenant {
  readonly #name: string;
  constructor(name: string) {
    this.#name = name;
  }
  toString(): string {
    return this.#name;
  }
}

const scope = (req: FrameworkRequest) => ({ tenant: new Tenant(req.get("x-tenant") ?? "a") });

@rest({ route: "/bound", methods: [one()] })
class Bound extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  tenant?: string;
  static override configure(schema: Schema): void {
    schema.pre("find", bind);
  }
}

@rest({ route: "/scoped", methods: [one()], scope })
class Scoped extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  tenant?: string;
}

/** Two of them are more than BSON is written for at once. */
const LONG = "x".repeat(9_000_000);

const longScope = (req: FrameworkRequest) => ({ name: { $ne: LONG }, tenant: req.get("x-tenant") });

@rest({ route: "/long", methods: [one()], scope: longScope })
class Long extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  tenant?: string;
}

@rest({ route: "/uncast", methods: [one()], scope: () => ({ rank: "none" }) })
class Uncast extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
}

const LISTED = { page: { size: 3, max: 10 }, preFetch } as const;

@rest({
  route: "/texts",
  methods: [all({ ...LISTED, populate: { bound: true, scoped: true, uncast: true } })],
})
class Text extends FrameworkModel {
  @prop({ ref: Bound })
  bound?: Ref<Bound>;
  @prop({ ref: Scoped })
  scoped?: Ref<Scoped>;
  @prop({ ref: Uncast })
  uncast?: Ref<Uncast>;
  @prop({ default: () => reader.getStore() ?? "" })
  reader?: string;
}

@rest({
  route: "/notes",
  methods: [all({ page: LISTED.page, populate: { long: true }, preFetch: withLongFilter })],
})
class Note extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ ref: Long })
  long?: Ref<Long>;
}

@rest({ route: "/counted", methods: [all({ ...LISTED, count: true })] })
class Counted extends FrameworkModel {
  @prop()
  tenant?: string;
  static override configure(schema: Schema): void {
    schema.pre("countDocuments", bind);
  }
}

/** Serves one text that names an entity of tenant "a" in each field. */
async function open() {
  const app = await mount([Bound, Scoped, Uncast, Long, Text, Note, Counted], {
    prepare: (app) =>
      void app.use(
        express.json(),
        (req, _res, next) => reader.run(req.get("x-tenant") ?? "", next),
      ),
  });
  await watchCommands(app.database.uri);
  const [bound] = await getModel(Bound).create([{ name: "Bound", tenant: "a" }]);
  const [scoped] = await getModel(Scoped).create([{ name: "Scoped", tenant: "a" }]);
  const [long] = await getModel(Long).create([{ name: "Long", tenant: "a" }]);
  await getModel(Note).create([{ long: long?._id } as never]);
  const text = { bound: bound?._id, scoped: scoped?._id };
  await getModel(Text).collection.insertOne(text as never);
  await getModel(Counted).create(["a", "a", "b"].map((tenant) => ({ tenant })));
  return app;
}

/** Asks for a page as readers who all come in one turn. */
async function ask(
  { get }: Awaited<ReturnType<typeof open>>,
  { path, prefer = "" }: { readonly path: string; readonly prefer?: string },
) {
  const asAll = (tenants: readonly string[]) => {
    meet = gate(tenants.length);
    const headersOf = (tenant: string) => ({ "x-tenant": tenant, ...prefer && { prefer } });
    return Promise.all(
      tenants.map((tenant) => get<EntityBody[]>(path, { headers: headersOf(tenant) })),
    );
  };
  // Some that come together, so that the next ones wait for each other as well
  await asAll(["a", "a", "a"]);
  return await asAll(["a", "b", "a", "b"]);
}

test("requests share no entities that the host's middleware decides on", async () => {
  await using app = await open();
  const replies = await ask(app, { path: "/texts?populate=bound" });
  const shown = replies.map(({ body }) => Object(body[0]?.bound).name ?? null);
  assertEquals<unknown>(shown, ["Bound", null, "Bound", null]);
});

test("requests share no entities of scopes whose values are told apart by a cast alone", async () => {
  await using app = await open();
  const replies = await ask(app, { path: "/texts?populate=scoped" });
  const shown = replies.map(({ body }) => Object(body[0]?.scoped).name ?? null);
  assertEquals<unknown>(shown, ["Scoped", null, "Scoped", null]);
});

test("requests share no default that the host gives each of them", async () => {
  await using app = await open();
  for (const path of ["/texts", "/texts?populate=scoped"]) {
    const replies = await ask(app, { path });
    assertEquals(replies.map(({ body }) => Object(body[0]).reader), ["a", "b", "a", "b"]);
  }
});

test("requests share no page whose query is too long to be told from others", async () => {
  await using app = await open();
  const replies = await ask(app, { path: "/notes?populate=long" });
  const shown = replies.map(({ status, body }) => [status, Object(body[0]?.long).name ?? null]);
  assertEquals<unknown>(shown, [[200, "Long"], [200, null], [200, "Long"], [200, null]]);
});

test("requests of one turn fail for nothing that none of them reads", async () => {
  await using app = await open();
  const replies = await ask(app, { path: "/texts?populate=uncast" });
  assertEquals(replies.map(({ status }) => status), [200, 200, 200, 200]);
});

test("requests share no total that the host's middleware decides on", async () => {
  await using app = await open();
  const replies = await ask(app, { path: "/counted", prefer: "count=exact" });
  const totals = replies.map(({ headers }) => headers.get("x-total-count"));
  assertEquals(totals, ["2", "1", "2", "1"]);
});
