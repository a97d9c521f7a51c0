import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";

/** Another writer, which runs between the read and the write of a request with the header `x-other`. */
async function meet(model: () => ModelClass, { headers, path }: FrameworkRequest) {
  const { collection } = getModel(model());
  const [, , id] = path.split("/");
  if (headers["x-other"] === undefined || id === undefined) return;
  const _id = new mongoose.Types.ObjectId(id);
  if (headers["x-other"] === "removes") return await collection.deleteOne({ _id });
  const lists = { tags: ["other"], "cards.0.tags": ["other"], "lid.tags": ["other"], people: [] };
  await collection.updateOne({ _id }, { $set: lists, $inc: { __v: 1 } });
}

const scope = () => ({ owner: "me" });

class Part extends FrameworkModel {
  @prop({ default: "me" })
  owner!: string;
  @arrayProp({ items: String })
  tags!: string[];
}

/** Makes a class whose writes have no hook, or a hook that meets another writer. */
export function buildItems(route: string, isHooked: boolean): ModelClass {
  const preSave = async <E extends object>(req: FrameworkRequest, entity: E): Promise<E> => {
    await meet(() => Item, req);
    return entity;
  };
  const hooks = isHooked ? { preSave } : {};
  const methods = [one(), create(hooks), update(hooks), remove(hooks)];

  class Person extends Part {}

  @rest({
    route,
    scope,
    methods: [
      ...[all(), one(), create({ ...hooks, many: 10, formats: ["ndjson"] })] as never[],
      ...[update(hooks), replace(hooks), remove(hooks)] as never[],
      updateAll({ ...hooks as object, fields: ["tags", "owner", "code"] }) as never,
      removeAll(hooks as object) as never,
      action("touch", {
        on: "one",
        run: async (req, item: Entity<Part>) => {
          if (isHooked) await meet(() => Item, req as FrameworkRequest);
          item.tags = [...item.tags, "touched"];
          if (req.headers["x-leaves"] !== undefined) item.owner = "other";
          return await item.save();
        },
      }) as never,
    ],
  })
  class Item extends Part {
    @prop({ unique: true, sparse: true })
    code?: string;
    @rest({ scope, methods: methods as never[] })
    @arrayProp({ items: Part, embedded: true, apart: false })
    cards!: Part[];
    @rest({ scope, methods: methods as never[] })
    @prop({ type: Part, apart: false })
    lid?: Part;
    @rest({ scope, methods: methods as never[] })
    @arrayProp({ items: Person })
    people!: Ref<Person>[];
  }
  Object.defineProperty(Item, "name", { value: isHooked ? "HookedItem" : "Item" });
  Object.defineProperty(Person, "name", { value: isHooked ? "HookedPerson" : "Person" });
  return Item;
}

/** A class whose writes run in transactions, with a history and a trash. */
@rest({
  route: "/kept",
  scope,
  methods: [one(), create(), update(), remove()],
  history: true,
  trash: { see: () => true },
})
export class Kept extends Part {
  @prop({ unique: true, sparse: true })
  code?: string;
}
