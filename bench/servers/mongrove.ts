/** Mongrove, as its README shows it. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import process from "node:process";
import { all, arrayProp, create, Framework, FrameworkModel, one, onlyIf, prop } from "../../mod.ts";
import { type ReadOnly, type Ref, replace, rest, update, updateAll } from "../../mod.ts";
import { type FrameworkRequest, type Method, type ModelClass, StoredFile } from "../../mod.ts";
import * as data from "../data.ts";
import { guarded, itemsOf, TARGETS } from "../data.ts";
import { databaseUri, keepStarred, LARGEST_BODY, listen, type Starred } from "./common.ts";

/** The fields of items. */
abstract class Item extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ required: true })
  text!: string;
  @prop()
  author?: string;
  @prop({ type: Number })
  stars!: number;
  @prop({ type: Number })
  price?: number;
  @prop({ type: Boolean })
  published?: boolean;
  @prop({ type: Date })
  created?: Date;
  @arrayProp({ items: String })
  tags?: string[];
}

@rest({ route: `/${data.WRITERS}`, methods: [one()], schemaOptions: { collection: data.WRITERS } })
class Writer extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  about?: string;
  @prop({ type: Date })
  joined?: Date;
}

/** The fields of the entities of pages. */
abstract class Ranked extends Item {
  @prop({ type: Number })
  rank!: number;
  @prop({ ref: Writer })
  writer?: Ref<Writer>;
}

/** Operations of any model. Their hooks are checked where the operations are called. */
type Methods = readonly Method<Record<never, never>>[];

/** Names a class after its route, as models of one collection need different names. */
function named(model: ModelClass, route: string): ModelClass {
  return Object.defineProperty(model, "name", { value: route });
}

/** Returns a model of items on a route. */
function itemOn(route: string, collection: string, methods: Methods): ModelClass {
  @rest({ route: `/${route}`, methods, schemaOptions: { collection } })
  class ItemOnRoute extends Item {}
  return named(ItemOnRoute, route);
}

/** Returns a model of ranked entities on a route. */
function rankedOn(route: string, methods: Methods): ModelClass {
  @rest({ route: `/${route}`, methods, schemaOptions: { collection: data.RANKED } })
  class RankedOnRoute extends Ranked {}
  return named(RankedOnRoute, route);
}

/** Returns a model of a collection without hooks. */
function itemClass(collection: string): ModelClass {
  return itemOn(collection, collection, [all(), one(), create(), update()]);
}

function look(_req: FrameworkRequest, item: Starred): Starred | null {
  return keepStarred(item);
}

const namedHook = {
  postFetch: onlyIf(["stars"], (_req: FrameworkRequest, item: Starred) => item.stars >= 0),
};

const hook = { postFetch: look };
const leanHook = { lean: true, postFetch: look } as const;
const paging = { page: { size: 20, max: 100 }, sort: ["rank"] };

/** Returns the models of routes with hooks. */
function hookedModels(): ModelClass[] {
  const documents = [all(hook), one(hook), create({ preSave: look }), update(hook)];
  const lean = [all(leanHook), one(leanHook)];
  const withNames = [all(namedHook), one(namedHook)];
  return [
    ...data.GUARDED.map((name) => itemOn(guarded("documents", name), name, documents)),
    ...data.GUARDED.map((name) => itemOn(guarded("lean", name), name, lean)),
    ...data.GUARDED.map((name) => itemOn(guarded("named", name), name, withNames)),
    rankedOn(guarded("named", data.PAGED), [all({ ...paging, ...namedHook })]),
    rankedOn(guarded("documents", data.PAGED), [all({ ...paging, ...hook })]),
    rankedOn(guarded("lean", data.PAGED), [all({ ...paging, ...leanHook })]),
  ];
}

@rest({ route: `/${data.SCANS}`, methods: [one()] })
class Scan extends FrameworkModel {
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 1_000_000_000 })
  file?: StoredFile;
}

@rest({
  route: `/${data.DEEP}`,
  methods: [all({ ...paging, sort: [data.DEEP_SORT] })],
  schemaOptions: { collection: data.DEEP },
})
class Deep extends Item {
  static override configure(schema: Schema): void {
    schema.index({ [data.DEEP_SORT]: 1, _id: 1 });
  }
}

/** Returns a model of a wide collection. */
function wideClass(count: number): ModelClass {
  const collection = data.wideOf(count);
  @rest({ route: `/${collection}`, methods: [all()], schemaOptions: { collection } })
  class Wide extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.add(Object.fromEntries(data.wideFields(count)));
    }
  }
  return Wide;
}

/** Returns the models of lists with groups. */
function groupedModels(): ModelClass[] {
  const by = ["stars", { created: "month" }] as const;
  const groups = { by: [...by], count: true, sum: ["price"] } as const;
  return data.GROUPED_SIZES.map(itemsOf).map((name) =>
    itemOn(data.grouped(name), name, [all({ groups })])
  );
}

/** Returns the models of writes of many entities. They need transactions. */
function writtenModels(): ModelClass[] {
  const { CREATED, CHANGED, MANY, written } = data;
  return [
    itemOn(written(CREATED), CREATED, [create({ many: MANY })]),
    itemOn(written(CHANGED), CHANGED, [updateAll({ fields: ["price"], max: MANY }), replace()]),
  ];
}

/** The fields of the entities of classes with options. */
abstract class Owned extends Item {
  @prop({ readonly: true })
  shop!: ReadOnly<string>;
  @prop({ readonly: true })
  createdBy?: ReadOnly<string>;
  @prop({ readonly: true })
  updatedBy?: ReadOnly<string>;
}

/** Returns the models of classes with an option. They need transactions. */
function ownedModels(): ModelClass[] {
  const methods = [all({ page: { size: 20, max: 20 } }), one(), create(), update()];
  const on = (option: data.ClassOption) => {
    const name = data.owned(option);
    return { route: `/${name}`, schemaOptions: { collection: name }, methods } as const;
  };
  @rest({ ...on("none"), tenant: false })
  class Plain extends Owned {}
  @rest({ ...on("history"), tenant: false, history: true })
  class Recorded extends Owned {}
  @rest({ ...on("trash"), tenant: false, trash: true })
  class Kept extends Owned {}
  @rest({ ...on("tenant"), tenant: "shop" })
  class Rented extends Owned {}
  @rest({ ...on("stamps"), tenant: false })
  class Stamped extends Item {
    @prop({ readonly: true })
    shop!: ReadOnly<string>;
    @prop({ stamp: "createdBy" })
    createdBy?: ReadOnly<string>;
    @prop({ stamp: "updatedBy" })
    updatedBy?: ReadOnly<string>;
  }
  return [Plain, Recorded, Kept, Rented, Stamped];
}

/** Returns the models of the collections, or this number of models, the measured one last. */
function collectionModels(count: number): ModelClass[] {
  if (count === 0) return [...data.COLLECTIONS.keys()].map(itemClass);
  const others = Array.from({ length: count - 1 }, (_, index) => itemClass(`others${index}`));
  return [...others, itemClass(itemsOf(TARGETS))];
}

const isReplicaSet = /[?&]replicaSet=/.test(databaseUri());
const models = [
  ...collectionModels(Number(process.env.BENCH_MODELS ?? 0)),
  ...hookedModels(),
  rankedOn(data.PAGED, [all({ ...paging, count: {} })]),
  rankedOn(data.POPULATED, [all({ ...paging, populate: { writer: true } })]),
  Writer,
  Scan,
  Deep,
  ...data.FIELD_COUNTS.map(wideClass),
  ...groupedModels(),
  ...isReplicaSet ? writtenModels() : [],
];
await mongoose.connect(databaseUri());
const app = express();
app.use(express.json({ limit: LARGEST_BODY }));
app.use(Framework.initialize({ models }));
if (isReplicaSet) {
  const { shop, user } = data.SENDER;
  app.use(Framework.initialize({ models: ownedModels(), tenant: () => shop, actor: () => user }));
}
listen(app);
