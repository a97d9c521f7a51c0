/** Express on Mongoose, with plain objects wherever it can give them. @module */
import {
  connectMongoose,
  type Item,
  itemModel,
  itemModels,
  rankedModel,
} from "./support/mongoose_item.ts";
import { serveCrud } from "./support/serve_crud.ts";

await connectMongoose();
const models = itemModels();
const ranked = rankedModel();

function modelOf(name: string): ReturnType<typeof itemModel> {
  return models.get(name) ?? itemModel(name);
}

await serveCrud(
  {
    list: (name) => modelOf(name).find().lean<Item[]>().exec(),
    one: (name, id) => modelOf(name).findById(id).lean<Item>().exec(),
    create: (name, body) => modelOf(name).create({ ...body }),
    update: (name, id, body) =>
      modelOf(name).findByIdAndUpdate(id, { $set: body, $inc: { __v: 1 } }, {
        returnDocument: "after",
        runValidators: true,
      }).lean<Item>().exec(),
    first: ({ limit, sort }) => ranked.find().sort(sort).limit(limit).lean<Item[]>().exec(),
    async page({ limit, sort }) {
      const [items, total] = await Promise.all([
        ranked.find().sort(sort).limit(limit).lean<Item[]>().exec(),
        ranked.countDocuments().exec(),
      ]);
      return { items, total };
    },
    populated: ({ limit, sort }) =>
      ranked.find().sort(sort).limit(limit).populate("writer").lean<Item[]>().exec(),
  },
  "lean-hook",
  { modelOf },
);
