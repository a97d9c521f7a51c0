/** Express on Mongoose, with plain objects wherever it can give them. @module */
import { COLLECTIONS } from "../plan/collections.ts";
import { connectMongoose, type Item, itemModel } from "./support/mongoose_item.ts";
import { serveCrud } from "./support/serve_crud.ts";

await connectMongoose();
const models = new Map([...COLLECTIONS.keys()].map((name) => [name, itemModel(name)]));

function modelOf(name: string): ReturnType<typeof itemModel> {
  return models.get(name) ?? itemModel(name);
}

serveCrud({
  list: (name) => modelOf(name).find().lean<Item[]>().exec(),
  one: (name, id) => modelOf(name).findById(id).lean<Item>().exec(),
  create: (name, body) => modelOf(name).create({ ...body }),
  update: (name, id, body) =>
    modelOf(name).findByIdAndUpdate(id, { $set: body, $inc: { __v: 1 } }, {
      returnDocument: "after",
      runValidators: true,
    }).lean<Item>().exec(),
}, "lean-hook");
