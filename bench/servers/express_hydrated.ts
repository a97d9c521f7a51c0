/** Express on Mongoose, with documents, as its guide shows it. @module */
import { connectMongoose, itemModel, itemModels, rankedModel } from "./support/mongoose_item.ts";
import { serveCrud } from "./support/serve_crud.ts";

await connectMongoose();
const models = itemModels();
const ranked = rankedModel();

function modelOf(name: string): ReturnType<typeof itemModel> {
  return models.get(name) ?? itemModel(name);
}

await serveCrud({
  list: (name) => modelOf(name).find().exec(),
  one: (name, id) => modelOf(name).findById(id).exec(),
  create: (name, body) => modelOf(name).create({ ...body }),
  async update(name, id, body, hook = (each) => each) {
    const item = await modelOf(name).findById(id);
    if (item === null || hook(item) === null) return null;
    item.set(body).increment();
    return await item.save();
  },
  first: ({ limit, sort }) => ranked.find().sort(sort).limit(limit).exec(),
  async page({ limit, sort }) {
    const [items, total] = await Promise.all([
      ranked.find().sort(sort).limit(limit).exec(),
      ranked.countDocuments().exec(),
    ]);
    return { items, total };
  },
  populated: ({ limit, sort }) => ranked.find().sort(sort).limit(limit).populate("writer").exec(),
}, "hook");
