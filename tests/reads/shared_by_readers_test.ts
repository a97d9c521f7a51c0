import { AsyncLocalStorage } from "node:async_hooks";
import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Query, Schema } from "mongoose";
import { FrameworkModel, type FrameworkRequest, getModel, one, prop, rest } from "../../mod.ts";
import { watchCommands } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { gate } from "../support/race.ts";
import { type EntityBody, mount } from "../support/support.ts";

/** Who sends the request in which the host's code runs. */
const reader = new AsyncLocalStorage<string>();

/** Holds requests until all that are to meet are here: then they go on in the same turn. */
let meet = gate(1);

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

@rest({ route: "/bound", methods: [one({ preFetch })] })
class Bound extends FrameworkModel {
  @prop()
  tenant?: string;
  static override configure(schema: Schema): void {
    schema.pre("findOne", bind);
  }
}

@rest({ route: "/scoped", methods: [one({ preFetch })], scope })
class Scoped extends FrameworkModel {
  @prop()
  tenant?: string;
}

@rest({ route: "/texts", methods: [one({ preFetch })] })
class Text extends FrameworkModel {
  @prop({ default: () => reader.getStore() ?? "" })
  reader?: string;
}

/** Serves one entity of each model, those with a tenant of tenant "a"; gives their paths. */
async function open() {
  const app = await mount([Bound, Scoped, Text], {
    prepare: (app) =>
      void app.use(
        express.json(),
        (req, _res, next) => reader.run(req.get("x-tenant") ?? "", next),
      ),
  });
  const sent = await watchCommands(app.database.uri);
  const [bound] = await getModel(Bound).create([{ tenant: "a" }]);
  const [scoped] = await getModel(Scoped).create([{ tenant: "a" }]);
  const text = await getModel(Text).collection.insertOne({} as never);
  const paths = {
    bound: `/bound/${bound?._id}`,
    scoped: `/scoped/${scoped?._id}`,
    text: `/texts/${text.insertedId}`,
  };
  return Object.assign(app, { paths, sent });
}

const TENANTS = ["a", "b", "a", "b"];

/** Asks for an entity as readers who all come in one turn; gives the answers, and how many queries they took. */
async function ask({ get, sent }: Awaited<ReturnType<typeof open>>, path: string) {
  meet = gate(TENANTS.length);
  sent.length = 0;
  const replies = await Promise.all(
    TENANTS.map((tenant) => get<EntityBody>(path, { headers: { "x-tenant": tenant } })),
  );
  return { replies, queries: sent.filter(({ name }) => name === "find").length };
}

test("requests share no entity that the host's middleware decides on", async () => {
  await using app = await open();
  const { replies } = await ask(app, app.paths.bound);
  assertEquals(replies.map(({ status }) => status), [200, 404, 200, 404]);
});

test("requests share no entity of scopes whose values are told apart by a cast alone", async () => {
  await using app = await open();
  const { replies, queries } = await ask(app, app.paths.scoped);
  // The first one takes itself for alone, and does not wait for the others.
  assertEquals([queries, ...replies.map(({ status }) => status)], [3, 200, 404, 200, 404]);
});

test("requests that share an entity share no default that the host gives each of them", async () => {
  await using app = await open();
  const { replies, queries } = await ask(app, app.paths.text);
  assertEquals(queries, 2);
  assertEquals(replies.map(({ body }) => body.reader), ["a", "b", "a", "b"]);
});
