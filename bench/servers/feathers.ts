/** Feathers with its adapter for the driver; all of a list in one page. @module */
import type { RequestHandler } from "express-types";
import type { RequestListener } from "node:http";
import type { mongo } from "mongoose";
import { COLLECTIONS, itemsOf, LEAN_HOOKED, TARGETS } from "../plan/collections.ts";
import type { ItemBody } from "../plan/items.ts";
import { PAGED, POPULATED, RANKED, WRITERS } from "../plan/ranked.ts";
import { keepAllStarred, type Starred } from "./support/hook.ts";
import { importPeer } from "./support/import_peer.ts";
import { listen } from "./support/listen.ts";
import { databaseUri } from "./support/settings.ts";

/** What a hook gets. */
interface Context {
  data: ItemBody;
  result: Starred[];
  params: { pipeline?: object[] };
}

/** How a collection is served. */
interface Served {
  readonly hooks?: object;
  readonly paginate?: object;
}

/** What is used of its application. */
interface App {
  configure(plugin: unknown): void;
  use(...handlers: unknown[]): void;
  service(name: string): { hooks(hooks: object): void };
  setup(): Promise<void>;
}

/** What is used of its Express transport. */
interface Transport {
  readonly default: (app: unknown) => App;
  readonly json: () => RequestHandler;
  readonly rest: () => unknown;
}

/** What is used of its adapter. */
interface Adapter {
  readonly MongoDBService: new (options: object) => object;
}

const [{ feathers }, transport, { MongoDBService }, { MongoClient }] = await Promise.all([
  importPeer<{ feathers: () => unknown }>("@feathersjs/feathers"),
  importPeer<Transport>("@feathersjs/express"),
  importPeer<Adapter>("@feathersjs/mongodb"),
  importPeer<Pick<typeof mongo, "MongoClient">>("mongodb"),
]);

const db = (await new MongoClient(databaseUri()).connect()).db();
const app = transport.default(feathers());
app.use(transport.json());
app.configure(transport.rest());

function serve(route: string, collection: string, { hooks = {}, ...options }: Served): void {
  app.use(`/${route}`, new MongoDBService({ Model: db.collection(collection), ...options }));
  app.service(route).hooks(hooks);
}

/** What its schemas would do: a date is stored as one, and a version is given. */
const complete = (context: Context) => {
  const { created } = context.data;
  Object.assign(context.data, { created: new Date(created), __v: 0 });
};

const keep = (context: Context) => {
  context.result = keepAllStarred(context.result);
};

/** Its documentation populates in the database; a resolver would send a query for each entity. */
const populate = (context: Context) => {
  const lookup = { from: WRITERS, localField: "writer", foreignField: "_id", as: "writer" };
  context.params.pipeline = [
    { $feathers: {} },
    { $lookup: lookup },
    { $unwind: { path: "$writer", preserveNullAndEmptyArrays: true } },
  ];
};

for (const name of COLLECTIONS.keys()) {
  serve(name, name, { hooks: { before: { create: [complete] } } });
}
serve(LEAN_HOOKED, itemsOf(TARGETS), { hooks: { after: { find: [keep] } } });
serve(PAGED, RANKED, { paginate: { default: 20, max: 100 } });
serve(POPULATED, RANKED, { hooks: { before: { find: [populate] } } });
await app.setup();
listen(app as unknown as RequestListener, ["lean-hook", "page", "populate"]);
