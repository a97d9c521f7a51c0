/** Express on Mongoose: with documents, as its guide shows it, or with plain objects wherever it returns them. @module */
import type { Express } from "express-types";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import process from "node:process";
import { CHANGED, CLASS_OPTIONS, type ClassOption, CREATED, MANY, owned } from "../data.ts";
import { SENDER, written } from "../data.ts";
import { LEAN } from "../servers.ts";
import { databaseUri, listen, type PageQuery } from "./common.ts";
import { type Crud, serveCrud } from "./express.ts";
import { type Item, itemModels, rankedModel } from "./mongoose_items.ts";

await mongoose.connect(databaseUri());
const models = itemModels();
const ranked = rankedModel();

function modelOf(name: string): Model<Item> {
  return models.get(name) as Model<Item>;
}

function page({ limit, sort }: PageQuery) {
  return ranked.find().sort(sort).limit(limit);
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
  page: (query) => page(query).exec(),
  count: () => ranked.countDocuments().exec(),
  populated: (query) => page(query).populate("writer").exec(),
};

const lean: Crud = {
  ...documents,
  list: (name) => modelOf(name).find().lean<Item[]>().exec(),
  one: (name, id) => modelOf(name).findById(id).lean<Item>().exec(),
  update: (name, id, body) =>
    modelOf(name).findByIdAndUpdate(id, { $set: body, $inc: { __v: 1 } }, {
      returnDocument: "after",
      runValidators: true,
    }).lean<Item>().exec(),
  page: (query) => page(query).lean<Item[]>().exec(),
  populated: (query) => page(query).populate("writer").lean<Item[]>().exec(),
};

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

/** The conditions and the values that each option of a class adds. */
const CONDITIONS = { trash: { deletedAt: null }, tenant: { shop: SENDER.shop } };
const CREATIONS = {
  tenant: { shop: SENDER.shop },
  stamps: { createdBy: SENDER.user, updatedBy: SENDER.user },
};
const UPDATES = { stamps: { updatedBy: SENDER.user } };

function valuesOf(table: Readonly<Record<string, object>>, option: ClassOption): object {
  return table[option] ?? {};
}

/** The model of a class with a history, and the collection with the records. */
const recorded = modelOf(owned("history"));
const records = mongoose.connection.collection(`${owned("history")}_history`);

async function createRecorded(values: object): Promise<object> {
  return await mongoose.connection.transaction(async (session) => {
    const [item] = await recorded.create([values], { session });
    const { _id: entity } = item as unknown as Item;
    const record = { entity, version: 0, at: new Date(), operation: "create", changed: [] };
    await records.insertOne({ ...record, actor: SENDER.user, before: {} }, { session });
    return item as object;
  });
}

async function updateRecorded(id: string, body: object): Promise<object> {
  return await mongoose.connection.transaction(async (session) => {
    const change = { $set: body, $inc: { __v: 1 } };
    const options = { session, returnDocument: "before", runValidators: true } as const;
    const item = await recorded.findByIdAndUpdate(id, change, options).lean<Item>().orFail();
    const version = Number(item.__v) + 1;
    const changed = Object.keys(body);
    const before = Object.fromEntries(changed.map((name) => [name, item[name]]));
    const record = { entity: item._id, version, at: new Date(), operation: "update", changed };
    await records.insertOne({ ...record, actor: SENDER.user, before }, { session });
    return { ...item, ...body, __v: version };
  });
}

/** Serves a class with an option. */
function serveOwned(app: Express, option: ClassOption): void {
  const route = `/${owned(option)}`;
  const model = modelOf(owned(option));
  const condition = valuesOf(CONDITIONS, option);
  app.get(route, async (_req, res) => {
    res.json(await model.find(condition).sort({ _id: 1 }).limit(20).lean());
  });
  app.get(`${route}/:id`, async (req, res) => {
    res.json(await model.findOne({ _id: req.params.id, ...condition }).lean());
  });
  app.post(route, async (req, res) => {
    const values = { ...req.body, ...valuesOf(CREATIONS, option) };
    const isRecorded = option === "history";
    res.status(201).json(await (isRecorded ? createRecorded(values) : model.create(values)));
  });
  app.patch(`${route}/:id`, async (req, res) => {
    const { id } = req.params;
    if (option === "history") return void res.json(await updateRecorded(id, req.body));
    const change = { $set: { ...req.body, ...valuesOf(UPDATES, option) }, $inc: { __v: 1 } };
    res.json(
      await model.findOneAndUpdate({ _id: id, ...condition }, change, {
        returnDocument: "after",
        runValidators: true,
      }).lean(),
    );
  });
}

const isLean = process.env.BENCH_SERVER === LEAN;
const app = isLean ? serveCrud(lean, "lean", "named") : serveCrud(documents, "documents");
if (isLean) {
  serveWrites(app);
  for (const option of CLASS_OPTIONS) serveOwned(app, option);
}
listen(app);
