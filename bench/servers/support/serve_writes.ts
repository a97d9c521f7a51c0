import type { Express, Response } from "express-types";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import { CHANGED, CREATED } from "../../plan/collections.ts";
import { MANY, written } from "../../plan/writes.ts";
import type { Item } from "./mongoose_item.ts";

/** Serves what Mongrove's routes of writes serve, as people write it by hand: all or nothing, and no more than allowed. */
export function serveWrites(app: Express, modelOf: (collection: string) => Model<Item>): void {
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
    await updateAll(res, {
      model: modelOf(CHANGED),
      filter: JSON.parse(String(req.query.q)),
      body: req.body,
    });
  });
  app.put(`/${written(CHANGED)}/:id`, async (req, res) => {
    const found = await modelOf(CHANGED).findOneAndReplace({ _id: req.params.id }, {
      ...req.body,
      __v: 0,
    }, {
      upsert: true,
      returnDocument: "after",
      runValidators: true,
      includeResultMetadata: true,
    }).lean();
    res.status(Object(found.lastErrorObject).updatedExisting ? 200 : 201).json(found.value);
  });
}

interface UpdateAll {
  readonly model: Model<Item>;
  readonly filter: object;
  readonly body: object;
}

async function updateAll(res: Response, { model, filter, body }: UpdateAll): Promise<void> {
  let answer: object | undefined;
  await mongoose.connection.transaction(async (session) => {
    const count = await model.countDocuments(filter, { session, limit: MANY + 1 });
    if (count > MANY) return;
    const { matchedCount: matched, modifiedCount: modified } = await model.updateMany(
      filter,
      { $set: body, $inc: { __v: 1 } },
      { session, runValidators: true },
    );
    answer = { matched, modified };
  });
  res.status(answer ? 200 : 409).json(answer ?? {});
}
