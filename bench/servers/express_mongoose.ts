/** Express on Mongoose: with documents, as its guide shows it, or with plain objects wherever it returns them. @module */
import type { Express } from "express-types";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import process from "node:process";
import { CHANGED, CREATED, MANY, written } from "../data.ts";
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

const isLean = process.env.BENCH_SERVER === LEAN;
const app = isLean ? serveCrud(lean, "lean", "named") : serveCrud(documents, "documents");
if (isLean) serveWrites(app);
listen(app);
