import { workerData } from "node:worker_threads";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  type ModelClass,
  one,
  prop,
  type ReadOnly,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  type RestOptions,
  update,
  updateAll,
} from "../../../mod.ts";
import type { TwinData } from "./twins.ts";

/** The class options that hide entities: the trash, tenants, or both. Only the keeper sees the trash. */
const { hiding } = workerData as TwinData;
const trash = { see: (req: FrameworkRequest) => req.headers["x-user"] === "keeper", keep: "30d" };
const OPTIONS = {
  // Without a history, more writes are single statements.
  history: hiding !== "both",
  ...hiding !== "tenants" && { trash },
  ...hiding !== "trash" && { tenant: "owner" },
} as Pick<RestOptions, "history" | "trash"> & { readonly tenant?: "owner" };

const PART = [all(), one(), create(), update(), remove(), removeAll()];
const SINGLE = [one(), create(), update(), remove()];

class Note extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ ref: () => Item, exists: true })
  about?: Ref<Item>;
}

/** The class of holders that is mounted. */
export const mounted: { holder?: ModelClass } = {};

/** Counts by `queryFor()` in a hook, and shows the count in a header. */
async function count(req: FrameworkRequest): Promise<boolean> {
  const { model, filter } = await Framework.queryFor(req, mounted.holder ?? Holder);
  Object(req).res.setHeader("x-holders", await model.countDocuments(filter));
  Object(req).res.setHeader("x-selected", await req.framework.count());
  return true;
}

@rest({
  route: "/items",
  methods: [
    all({
      page: { size: 5, max: 20 },
      sort: ["name", "pages", "genre"],
      select: ["name", "code", "sequel"],
      search: ["name", "genre"],
      count: {},
      groups: { by: ["genre", "sequel"], count: true, sum: ["pages"], avg: ["pages"] },
      distinct: ["genre", "sequel", "code"],
      populate: { sequel: {}, related: {} },
      formats: ["ndjson", "csv"],
      live: true,
    }),
    one({ populate: { sequel: {}, related: {} }, select: ["name", "sequel"] }),
    create({ many: 10, formats: ["ndjson"], idempotency: { keep: "1h", caller: () => "all" } }),
    update(),
    updateAll({ fields: ["name", "genre", "sequel"] }),
    replace(),
    remove(),
    removeAll(),
    action("shout", {
      on: "one",
      run: async (_req, item: Entity<Item>) => {
        item.name = item.name.toUpperCase();
        return await item.save();
      },
    }),
  ],
  ...OPTIONS,
  main: true,
})
@rest({
  route: "/hooked",
  methods: [
    all({ preFetch: count, postFetch: (_req, item) => item }),
    one({ preFetch: count, postFetch: (_req, item) => item }),
    create({ preSave: (_req, item) => item }),
    update({ preFetch: count, preSave: (_req, item) => item }),
    updateAll({ fields: ["genre"], preSave: (_req, item) => item }),
    replace({ by: "code" }),
    remove({ preSave: (_req, item) => item }),
    removeAll({ preSave: (_req, item) => item }),
  ],
  ...OPTIONS,
})
@rest({
  route: "/lean",
  methods: [all({ lean: true, preSend: (_req, item) => ({ ...item }) })],
  ...OPTIONS,
})
export class Item extends FrameworkModel {
  @prop({ readonly: true })
  readonly owner?: ReadOnly<string>;
  @prop({ required: true })
  name!: string;
  @prop({ unique: true, required: true })
  code!: string;
  @prop({ unique: true, sparse: true })
  isbn?: string;
  @prop()
  genre?: string;
  @prop({ type: Number })
  pages?: number;
  @prop({ ref: () => Item, exists: true })
  sequel?: Ref<Item>;
  @rest({ methods: PART })
  @arrayProp({ items: () => Item, exists: true })
  related!: Ref<Item>[];
  @rest({ methods: PART })
  @arrayProp({ items: Note, embedded: true, apart: false })
  notes!: Note[];
  @rest({ methods: SINGLE })
  @prop({ type: Note })
  cover?: Note;
}

@rest({
  route: "/holders",
  methods: [
    all({ populate: { items: {}, best: {} }, sort: ["name"], page: { size: 10, max: 20 } }),
    one({ populate: { items: {}, best: {} } }),
    create(),
    update(),
    replace(),
    remove(),
    removeAll(),
  ],
  ...OPTIONS,
})
export class Holder extends FrameworkModel {
  @prop({ readonly: true })
  readonly owner?: ReadOnly<string>;
  @prop({ required: true })
  name!: string;
  @rest({ methods: PART })
  @arrayProp({ items: () => Item, exists: true })
  items!: Ref<Item>[];
  @rest({ methods: SINGLE })
  @prop({ ref: () => Item })
  best?: Ref<Item>;
  @rest({ methods: PART })
  @arrayProp({ items: Note, embedded: true, apart: false })
  slots!: Note[];
}
