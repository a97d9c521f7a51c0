/** Express on Mongoose: with documents, as its guide shows it, or with plain objects wherever it returns them. @module */
import type { Express } from "express-types";
import { createHash } from "node:crypto";
import mongoose from "mongoose";
import process from "node:process";
import { CHANGED, CLASS_OPTIONS, type ClassOption, CREATED, MANY, owned } from "../data.ts";
import { itemsOf, keyed, RANKED, SENDER, TARGETS, TOKENS, written } from "../data.ts";
import { LEAN } from "../servers.ts";
import { importPeer, listen, type PageQuery, URI } from "./common.ts";
import { type Crud, serveCrud, serveItems } from "./express.ts";
import { type Item, modelOf } from "./mongoose_items.ts";

await mongoose.connect(URI);

function findPage({ limit, sort, isPopulated }: PageQuery) {
  const found = modelOf(RANKED).find().sort(sort).limit(limit);
  return isPopulated ? found.populate("writer") : found;
}

const documents: Crud = {
  list: (name) => modelOf(name).find().exec(),
  one: (name, id) => modelOf(name).findById(id).exec(),
  create: (name, body) => modelOf(name).create({ ...body }),
  async update(name, id, body, hook = (each) => each) {
    const item = await modelOf(name).findById(id);
    if (item === null || hook(item) === null) return null;
    item.set(body).increment();
    return await item.save();
  },
  page: (query) => findPage(query).exec(),
  count: () => modelOf(RANKED).countDocuments().exec(),
};

/** The options, conditions and values that an option of a class adds to requests. */
type Added = Partial<Record<"where" | "list" | "create" | "update", object>>;

/** Returns reads and writes with plain objects. */
function lean({ where, list, create, update }: Added = {}): Crud {
  return {
    ...documents,
    list: (name) => modelOf(name).find({ ...where }, null, list).lean<Item[]>().exec(),
    one: (name, _id) => modelOf(name).findOne({ _id, ...where }).lean<Item>().exec(),
    create: (name, body) => modelOf(name).create({ ...body, ...create }),
    update(name, _id, body) {
      const change = { $set: { ...body, ...update }, $inc: { __v: 1 } };
      const options = { returnDocument: "after", runValidators: true } as const;
      return modelOf(name).findOneAndUpdate({ _id, ...where }, change, options).lean<Item>().exec();
    },
    page: (query) => findPage(query).lean<Item[]>().exec(),
  };
}

/** Serves writes of one and of many entities: all or nothing, and no more than allowed. */
function serveWrites(app: Express): void {
  app.post(`/${written(CREATED)}`, async (req, res) => {
    const model = modelOf(CREATED);
    if (!Array.isArray(req.body)) {
      const item = await model.create({ ...req.body });
      res.status(201);
      return void (req.headers.prefer === "return=minimal" ? res.end() : res.json(item));
    }
    if (req.body.length > MANY) return void res.status(413).json({});
    let items: object[] = [];
    await mongoose.connection.transaction(async (session) => {
      items = await model.insertMany(req.body, { session });
    });
    res.status(201).json(items);
  });
  app.patch(`/${written(CHANGED)}`, async (req, res) => {
    const model = modelOf(CHANGED);
    const filter = JSON.parse(String(req.query.q));
    const change = { $set: req.body, $inc: { __v: 1 } };
    let answer: object | undefined;
    await mongoose.connection.transaction(async (session) => {
      const count = await model.countDocuments(filter, { session, limit: MANY + 1 });
      if (count > MANY) return;
      const result = await model.updateMany(filter, change, { session, runValidators: true });
      answer = { matched: result.matchedCount, modified: result.modifiedCount };
    });
    res.status(answer ? 200 : 409).json(answer ?? {});
  });
  app.put(`/${written(CHANGED)}/:id`, async (req, res) => {
    const body = { ...req.body, __v: 0 };
    const found = await modelOf(CHANGED).findOneAndReplace({ _id: req.params.id }, body, {
      upsert: true,
      returnDocument: "after",
      runValidators: true,
      includeResultMetadata: true,
    }).lean();
    res.status(Object(found.lastErrorObject).updatedExisting ? 200 : 201).json(found.value);
  });
}

const { shop, user } = SENDER;
const list = { sort: { _id: 1 }, limit: 20 };

/** The reads and writes of each option of a class. */
const OWNED: Readonly<Record<ClassOption, Crud>> = {
  none: lean({ list }),
  stamps: lean({ list, create: { createdBy: user, updatedBy: user }, update: { updatedBy: user } }),
  history: { ...lean({ list }), create: createRecorded, update: updateRecorded },
  trash: lean({ list, where: { deletedAt: null } }),
  tenant: lean({ list, where: { shop }, create: { shop } }),
};

const record = (name: string) => mongoose.connection.collection(`${name}_history`);

async function createRecorded(name: string, values: object): Promise<object> {
  return await mongoose.connection.transaction(async (session) => {
    const [item] = await modelOf(name).create([values], { session });
    const changes = { version: 0, at: new Date(), operation: "create", changed: [], before: {} };
    await record(name).insertOne({ entity: item?._id, ...changes, actor: user }, { session });
    return item as object;
  });
}

async function updateRecorded(name: string, id: string, body: object): Promise<Item> {
  return await mongoose.connection.transaction(async (session) => {
    const change = { $set: body, $inc: { __v: 1 } };
    const options = { session, returnDocument: "before", runValidators: true } as const;
    const item = await modelOf(name).findByIdAndUpdate(id, change, options).lean<Item>().orFail();
    const version = Number(item.__v) + 1;
    const changed = Object.keys(body);
    const before = Object.fromEntries(changed.map((name) => [name, item[name]]));
    const changes = { version, at: new Date(), operation: "update", changed, before };
    await record(name).insertOne({ entity: item._id, ...changes, actor: user }, { session });
    return { ...item, ...body, __v: version };
  });
}

interface Token {
  readonly owner: string;
  readonly expiresAt: Date | null;
}

/** Serves entities to requests with a token, whose hash is stored. */
async function serveTokens(app: Express): Promise<void> {
  const { default: passport } = await importPeer("passport");
  const { Strategy } = await importPeer("passport-http-bearer");
  const tokens = mongoose.connection.collection<Token>(TOKENS);
  const find = async (token: string) => {
    const hash = createHash("sha256").update(token).digest();
    const found = await tokens.findOne({ hash });
    const isValid = found !== null && (found.expiresAt === null || found.expiresAt > new Date());
    return isValid ? { id: found.owner } : false;
  };
  type Done = (error: unknown, user?: object | false) => void;
  passport.use(
    new Strategy((token: string, done: Done) => {
      find(token).then((user) => done(null, user), done);
    }),
  );
  const name = itemsOf(TARGETS);
  app.use(`/${keyed(name)}`, passport.authenticate("bearer", { session: false }));
  serveItems(app, lean(), { name, route: keyed(name) });
}

const isLean = process.env.BENCH_SERVER === LEAN;
const app = isLean ? serveCrud(lean(), "lean", "named") : serveCrud(documents, "documents");
if (isLean) {
  serveWrites(app);
  await serveTokens(app);
  for (const option of CLASS_OPTIONS) serveItems(app, OWNED[option], { name: owned(option) });
}
listen(app);
