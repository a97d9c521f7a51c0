/** Feathers with its adapter for the driver; all of a list in one page. @module */
import type { RequestHandler } from "express-types";
import type { RequestListener } from "node:http";
import type { mongo } from "mongoose";
import { COLLECTIONS, itemsOf, LEAN_HOOKED, TARGETS } from "../plan/collections.ts";
import type { ItemBody } from "../plan/items.ts";
import { keepAllStarred, type Starred } from "./support/hook.ts";
import { importPeer } from "./support/import_peer.ts";
import { listen } from "./support/listen.ts";
import { databaseUri } from "./support/settings.ts";

/** What a hook gets. */
interface Context {
  data: ItemBody;
  result: Starred[];
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

function serve(route: string, collection: string, hooks: object): void {
  app.use(`/${route}`, new MongoDBService({ Model: db.collection(collection) }));
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

for (const name of COLLECTIONS.keys()) serve(name, name, { before: { create: [complete] } });
serve(LEAN_HOOKED, itemsOf(TARGETS), { after: { find: [keep] } });
await app.setup();
listen(app as unknown as RequestListener, ["lean-hook"]);
