/** Feathers with its adapter for the driver; all of a list in one page. @module */
import { COLLECTIONS, type ItemBody, itemsOf, LEAN_HOOKED, PAGED, POPULATED } from "../data.ts";
import { RANKED, TARGETS, WRITERS } from "../data.ts";
import { databaseUri, importPeer, keepAllStarred, listen, type Starred } from "./common.ts";

/** The context of a hook. */
interface Context {
  readonly data: ItemBody;
  result: Starred[];
  readonly params: { pipeline?: object[] };
}

const { feathers } = await importPeer("@feathersjs/feathers");
const { default: toExpress, json, rest } = await importPeer("@feathersjs/express");
const { MongoDBService } = await importPeer("@feathersjs/mongodb");
const { MongoClient } = await importPeer("mongodb");

const db = (await new MongoClient(databaseUri()).connect()).db();
const app = toExpress(feathers());
app.use(json());
app.configure(rest());

interface Served {
  readonly hooks?: object;
  readonly paginate?: object;
}

function serve(route: string, collection: string, { hooks = {}, ...options }: Served): void {
  app.use(`/${route}`, new MongoDBService({ Model: db.collection(collection), ...options }));
  app.service(route).hooks(hooks);
}

/** Stores a date as a date, and adds a version, as a schema would. */
const complete = ({ data }: Context) => {
  Object.assign(data, { created: new Date(data.created), __v: 0 });
};

const keep = (context: Context) => {
  context.result = keepAllStarred(context.result);
};

/** Populates in the database, as the documentation says. A resolver would send a query for each entity. */
const populate = ({ params }: Context) => {
  const lookup = { from: WRITERS, localField: "writer", foreignField: "_id", as: "writer" };
  const unwind = { path: "$writer", preserveNullAndEmptyArrays: true };
  params.pipeline = [{ $feathers: {} }, { $lookup: lookup }, { $unwind: unwind }];
};

for (const name of COLLECTIONS.keys()) {
  serve(name, name, { hooks: { before: { create: [complete] } } });
}
serve(LEAN_HOOKED, itemsOf(TARGETS), { hooks: { after: { find: [keep] } } });
serve(PAGED, RANKED, { paginate: { default: 20, max: 100 } });
serve(POPULATED, RANKED, { hooks: { before: { find: [populate] } } });
await app.setup();
listen(app);
