/** Feathers with its adapter for the driver; all of a list in one page. @module */
import { COLLECTIONS, type ItemBody, itemsOf, LEAN_HOOKED, PAGED, POPULATED } from "../data.ts";
import { RANKED, TARGETS, WRITERS } from "../data.ts";
import { importPeer, keepAllStarred, listen, type Starred, URI } from "./common.ts";

interface Context {
  readonly data: ItemBody;
  result: Starred[];
  readonly params: { pipeline?: object[] };
}

const { feathers } = await importPeer("@feathersjs/feathers");
const { default: toExpress, json, rest } = await importPeer("@feathersjs/express");
const { MongoDBService } = await importPeer("@feathersjs/mongodb");
const { MongoClient } = await importPeer("mongodb");

const db = (await new MongoClient(URI).connect()).db();
const app = toExpress(feathers());
app.use(json());
app.configure(rest());

function serve(
  route: string,
  collection: string,
  hooks: object = {},
  paginate: object | false = false,
): void {
  app.use(`/${route}`, new MongoDBService({ Model: db.collection(collection), paginate }));
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

for (const name of COLLECTIONS.keys()) serve(name, name, { before: { create: [complete] } });
serve(LEAN_HOOKED, itemsOf(TARGETS), { after: { find: [keep] } });
serve(PAGED, RANKED, {}, { default: 20, max: 100 });
serve(POPULATED, RANKED, { before: { find: [populate] } });
await app.setup();
listen(app);
