import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
// @ts-types="express-types"
import express from "express";
import {
  action,
  all,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  type Ref,
  replace,
  rest,
  StoredFile,
} from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { admin } from "../../src/admin/mod.ts";
import { follow } from "../../src/changes/mod.ts";
import { connect } from "../../src/client/mod.ts";
import { keys } from "../../src/keys/mod.ts";
import { mcp } from "../../src/mcp/mod.ts";
import { createApp } from "../../src/new/mod.ts";
import { openapi } from "../../src/openapi/mod.ts";
import { startMongo } from "../../src/testing/mod.ts";
import { collectionOptions } from "../../src/tanstack/mod.ts";
import { every, migrate } from "../../src/work/mod.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { serve } from "../harness/serve.ts";
import { readOptions } from "../harness/tasks/weight_task.ts";
import { hasRows, refuses, refusesLate, type Takes } from "./wrong_values.ts";

const API = new URL("../docs/public_api.txt", import.meta.url);

const SERVER = (await Deno.readTextFile(API)).split(/^(?=# )/m)
  .filter((part) => !/^#.*client\n/.test(part)).join("\n\n");

/** The options of each interface of the public API except the client's, by its name. */
const KNOWN = readOptions(SERVER);

/** Adds the options that an interface has from `…Option` or `Pick`. */
function knownOf(name: string): string[] {
  const [, bases = ""] = new RegExp(`^interface ${name}\\b.* extends (.*)$`, "m").exec(SERVER) ??
    [];
  const shared = [...bases.matchAll(/\b\w+Option\b/g)].flatMap(([base]) => KNOWN.get(base) ?? []);
  const picked = [...bases.matchAll(/Pick<[^"]*"(\w+)"/g)].map(([, option = ""]) => option);
  return [...KNOWN.get(name) ?? [], ...shared, ...picked];
}

@rest({ route: "/owners", methods: [all({ page: false }), one()] })
class Owner extends FrameworkModel {
  @prop()
  name?: string;
}

function thing({ on = {}, methods = [all(), one()], file = { maxBytes: 1 } }: {
  readonly on?: object;
  readonly methods?: readonly unknown[];
  readonly file?: object;
}) {
  @rest({ route: "/things", methods, ...on } as never)
  class Thing extends FrameworkModel {
    @prop()
    name?: string;
    @prop({ type: Number })
    size?: number;
    @prop({ type: Date })
    at?: Date;
    @prop({ ref: () => Owner })
    owner?: Ref<Owner>;
    @rest({ methods: [one(), replace()] } as never)
    @prop({ type: StoredFile, ...file } as never)
    file?: StoredFile;
  }
  return Thing;
}

const start = (parts: Parameters<typeof thing>[0], options: object = {}) =>
  Framework.initialize({ models: [thing(parts), Owner], tidy: false, ...options });
const list = (options: object) => start({ methods: [all(options as never), one()] });
const acting = (options: object) => {
  const given = { on: "one", run: () => ({}), ...options };
  return start({ methods: [one(), action("close", given as never)] });
};
const INFO = { title: "Things", version: "1" };
const LOGIN = { header: "authorization", label: "Token" };

/** The options of an interface with the values that each takes, and a start with some of them. */
type Rows = readonly [
  takes: Readonly<Record<string, Takes>>,
  start: (options: object) => unknown,
];

const ROWS: Readonly<Record<string, Rows>> = {
  PageOptions: [{ size: "", max: "" }, (given) => list({ page: { max: 5, ...given } })],
  CollectionOptions: [
    { live: "true", query: "{}", onDisconnect: "function" },
    (given) =>
      collectionOptions(connect("http://things.invalid").resource<Owner>("/owners"), given),
  ],
  CountOptions: [{ upTo: "Infinity", always: "true" }, (given) => list({ count: given })],
  LiveOptions: [{ max: "" }, (given) => list({ live: given })],
  GroupsOptions: [
    { by: "", timeZone: "", count: "true", sum: "", avg: "", max: "", minCount: "" },
    (given) => list({ groups: { by: [{ at: "month" }], ...given } }),
  ],
  PopulateOptions: [
    { select: "", always: "true" },
    (given) => list({ populate: { owner: given } }),
  ],
  IdempotencyOptions: [
    { keep: "", required: "true", caller: "function" },
    (given) =>
      start({ methods: [one(), create({ idempotency: { keep: "1d", ...given } } as never)] }),
  ],
  TrashOptions: [
    { keep: "", see: "function", restore: "function", field: "" },
    (given) => start({ on: { trash: { see: () => true, ...given } } }),
  ],
  StrictOptions: [
    { parameters: "true", bodies: "true", guards: "", lists: "true", removals: "true" },
    (given) => {
      const methods = [all({ page: false }), one()];
      return start({ methods }, { strict: { guards: false, ...given } });
    },
  ],
  HistoryOptions: [{ keep: "" }, (given) => start({ on: { history: given } })],
  NamedActionOptions: [
    { on: "", method: "", body: "", answer: "", saves: "true", run: "function" },
    acting,
  ],
  FileOptions: [
    { maxBytes: "", accept: "", inline: "true" },
    (given) => start({ file: { maxBytes: 5, ...given } }),
  ],
  PartRestOptions: [{ route: "" }, (given) => {
    class Part extends FrameworkModel {}
    @rest({ route: "/wholes", methods: [one()] })
    class Whole extends FrameworkModel {
      @rest({ methods: [one()], ...given } as never)
      @prop({ type: Part })
      part?: Part;
    }
    return Framework.initialize({ models: [Whole], tidy: false });
  }],
  BatchOptions: [
    { path: "", max: "" },
    (given) => start({}, { batch: { path: "/batch", ...given } }),
  ],
  KeysOptions: [
    {
      owner: "function",
      see: "function",
      scopes: "",
      max: "",
      pepper: "",
      as: "",
      connection: "",
    },
    (given) => keys({ owner: () => ({}), ...given }),
  ],
  AdoptOptions: [
    { shown: "", virtuals: "", writable: "", rest: "", parts: "{}" },
    (given) => adopting(given),
  ],
  ErrorsOptions: [{ notFound: "true" }, (given) => Framework.errors(given)],
  AdminOptions: [
    {
      title: "text",
      apiPath: "text",
      see: "function",
      login: "",
      session: "",
      models: "{}",
      links: "{}",
    },
    (given) => admin(start({}), { title: "Things", ...given } as never),
  ],
  AdminModel: [
    { list: "", title: "", menu: "text {}", group: "text", icon: "text", format: "{}" },
    (given) => admin(start({}), { title: "Things", models: { Thing: given } } as never),
  ],
  AdminLogin: [
    { header: "", label: "text", help: "empty text", prefix: "empty text" },
    (given) => admin(start({}), { title: "Things", login: { ...LOGIN, ...given } } as never),
  ],
  OpenApiInfo: [
    { title: "empty text", version: "empty text", description: "empty text" },
    (given) => openapi(start({}), { info: { ...INFO, ...given } } as never),
  ],
  OpenApiServer: [
    { url: "empty text", description: "empty text" },
    (given) => openapi(start({}), { info: INFO, servers: [{ url: "/", ...given }] } as never),
  ],
  McpOptions: [
    { expose: "", info: "", origins: "", hosts: "", authorization: "" },
    (given) => {
      const Thing = thing({});
      const api = Framework.initialize({ models: [Thing], tidy: false });
      return mcp(api, { expose: [{ model: Thing }], ...given } as never);
    },
  ],
  McpAuthorization: [
    { resource: "", servers: "", scopes: "", verify: "function" },
    (given) => {
      const Thing = thing({});
      const api = Framework.initialize({ models: [Thing], tidy: false });
      const url = "https://a.example/mcp";
      const authorization = { resource: url, servers: [url], verify: () => undefined, ...given };
      return mcp(api, { expose: [{ model: Thing }], authorization } as never);
    },
  ],
  Exposure: [{ model: "", operations: "", actions: "", route: "", name: "text" }, (given) => {
    const Thing = thing({});
    const api = Framework.initialize({ models: [Thing], tidy: false });
    return mcp(api, { expose: [{ model: Thing, ...given }] } as never);
  }],
};

for (const [name, [takes, started]] of Object.entries(ROWS)) {
  Deno.test(`each option of ${name} refuses a value of another kind`, () => {
    if (KNOWN.has(name)) hasRows(takes, knownOf(name));
    for (const [option, each] of Object.entries(takes)) {
      refuses(option, each, (value) => started({ [option]: value }));
    }
  });
}

/** Options that are read when a function is called, which returns a promise. */
const LATE: Readonly<Record<string, readonly [Rows[0], (options: object) => Promise<unknown>]>> = {
  QueryForOptions: [
    { limits: "{}", q: "true", route: "" },
    (given) => Framework.queryFor({ url: "/", headers: {} } as never, Owner, given),
  ],
  TidyOptions: [{ at: "", connections: "" }, (given) => Framework.tidy(given)],
  CloseOptions: [{ timeoutMS: "" }, async (given) => {
    await using served = await serve(express());
    await Framework.close(served as never, given);
  }],
  FollowOptions: [
    {
      ...{ name: "", handle: "function", onLost: "function", onError: "function", connection: "" },
      ...{ concurrency: "", timeoutMS: "", attempts: "" },
    },
    (given) => following(given),
  ],
  MigrateOptions: [
    { connection: "", waitMS: "", wait: "true" },
    (given) => migrate([], given),
  ],
  EveryOptions: [
    { connection: "", onError: "function" },
    (given) => every("1h", "owners", () => {}, given).stop(),
  ],
  FollowerOptions: [{ timeoutMS: "", limit: "" }, async ({ timeoutMS, limit }: FollowerOptions) => {
    await using follower = follow(Owner, FOLLOWER);
    if (limit !== undefined) await follower.deadLetters({ limit });
    if (timeoutMS !== undefined) await follower.stop({ timeoutMS });
  }],
  CreateAppOptions: [
    { runtime: "", plain: "true", login: "true", from: "", write: "", report: "function" },
    async (given) => {
      const folder = await Deno.makeTempDir();
      try {
        await createApp(folder, { runtime: "deno", ...given });
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  ],
  StartMongoOptions: [{ replicaSet: "" }, (given) => startMongo(given)],
};

interface FollowerOptions {
  readonly timeoutMS?: number;
  readonly limit?: number;
}

const FOLLOWER = { name: "owners", handle: () => {}, onError: () => {} };

async function following(given: object): Promise<void> {
  await follow(Owner, { ...FOLLOWER, ...given }).stop({ timeoutMS: 0 });
}

for (const [name, [takes, started]] of Object.entries(LATE)) {
  test(`each option of ${name} refuses a value of another kind`, async () => {
    if (KNOWN.has(name)) hasRows(takes, knownOf(name));
    await using _database = await openDatabase();
    for (const [option, each] of Object.entries(takes)) {
      await refusesLate(option, each, (value) => started({ [option]: value }));
    }
  });
}

let adopted = 0;

function adopting(given: object) {
  const name = `AdoptedOfOptions${adopted++}`;
  const model = mongoose.model(name, new mongoose.Schema({ name: String }));
  const rest = { route: `/${name}`, methods: [one()] };
  const options = { shown: ["name"], writable: ["name"], rest, ...given } as never;
  return Framework.initialize({ models: [adopt(model, options)], tidy: false });
}

test("a call of the client refuses a time limit that is no positive number", async () => {
  const fetch = () => Promise.resolve(Response.json([]));
  await refusesLate("timeoutMS", "Infinity 2^53 null true", async (timeoutMS) => {
    const api = connect("http://things.invalid", { fetch, timeoutMS } as never);
    await api.resource<Owner>("/owners").all();
  });
});

/** The options of these interfaces are rows of `option_values_test.ts`, those of actions of `NamedActionOptions`. */
const ELSEWHERE = [
  ...["InitializeOptions", "BodyLimits", "QueryLimits", "LiveLimits", "Limits", "RestOptions"],
  ...["LifecycleOptions", "ClassFeatures", "FieldOptions", "FieldFeatures", "ArrayFeatures"],
  ...["PropOptions", "ArrayPropOptions", "OperationOptions", "OperationWords", "ReadOptions"],
  ...["ReferenceOptions", "ReferenceFeatures", "Words"],
  ...["WriteOptions", "OpenApiOptions", "FilterOptions"],
  ...["SharedActionOptions", "InferredActionOptions"],
];

/** The options of these interfaces start nothing, or are checked as declarations. */
const UNCHECKED = ["RestErrorOptions", "DefineOptions", "MethodWithOptions"];

Deno.test("each options of the public API have a table", () => {
  const named = /(Options|Limits|Features|Words|Login|Exposure|Info|Server)$/;
  const tables = [...Object.keys(ROWS), ...Object.keys(LATE), ...ELSEWHERE, ...UNCHECKED];
  const missing = [...KNOWN.keys()].filter((name) => named.test(name) && !tables.includes(name));
  assertEquals(missing, []);
});
