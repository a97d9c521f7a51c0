// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  type ModelClass,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { start, type Started } from "../../support/support.ts";
import { isText } from "./fields.ts";
import { PAGE } from "./parameters.ts";
import { sendInBatch } from "./send_in_batch.ts";
import { type ClassSpec, type Copies, type Doc, type FieldSpec, isLean } from "./world.ts";
import type { World } from "./world.ts";

const TYPES: Record<string, unknown> = {
  text: String,
  number: Number,
  flag: Boolean,
  free: Object,
  map: Map,
};

const FAST = [all(), one(), create(), update(), remove(), removeAll()];

/** What a hook gives in the place of an entity. */
const COPIES: Record<Copies, (entity: object) => object> = {
  itself: (entity) => entity,
  spread: (entity) => ({ ...entity }),
  object: (entity) => entity instanceof mongoose.Document ? entity.toObject() : entity,
  beside: (entity) => ({ ...entity, beside: { ...entity } }),
  text: (entity) => ({
    ...entity,
    // Lean entities have no `toJSON()`: there, a hook that makes text makes it of all that is stored.
    beside: entity instanceof mongoose.Document ? JSON.stringify(entity) : "",
  }),
};

function slow({ copies = "itself" }: ClassSpec) {
  const hooks = { preSend: (_req: unknown, entity: object) => COPIES[copies](entity) } as never;
  const writes = [
    create(hooks),
    update({ preSave: pass, ...hooks as object }),
    remove({ preSave: pass }),
    removeAll({ preSave: pass }),
  ];
  return { hooks: hooks as object, writes, methods: [all(hooks), one(hooks), ...writes] };
}

/** A served world: its routes are `/fast`, `/slow` and `/lean`, its parts have routes of the same names. */
export interface ServedWorld extends Started {
  /** Reads what is stored, past Mongoose. */
  readonly stored: () => Promise<Pick<World, "roots" | "targets">>;
  /** How many requests were sent. */
  readonly sent: () => number;
  /** What clients keep of answers, by what they asked for. */
  readonly tags: Map<string, { readonly tag: string; readonly body: unknown }>;
  /** Whether requests are sent as batches. */
  readonly inBatches: boolean;
  /** What answered 500. */
  readonly failures: readonly unknown[];
  /** Asks the driver for the roots that a filter selects. */
  readonly select: (filter: object) => Promise<string[]>;
}

function scope(req: FrameworkRequest) {
  return { owner: req.get("x-tenant") ?? "" };
}

function scopeOf({ scoped }: ClassSpec) {
  return scoped ? { scope } : {};
}

/** Calls a decorator as the compiler does. */
function decorate(decorator: unknown, context: object): void {
  (decorator as (value: undefined, context: object) => void)(undefined, context);
}

function declare(field: FieldSpec, target: () => ModelClass): unknown {
  const { kind, guard, default: given, getter, of } = field;
  const shared = {
    ...guard === "unselected" ? { select: false } : guard && { [guard]: true },
    ...given !== undefined && { default: given },
    ...getter && { get: (value: unknown) => isText(value) ? value.toUpperCase() : value },
  };
  const own: Record<string, () => unknown> = {
    texts: () => arrayProp({ items: String, ...shared }),
    objects: () =>
      arrayProp(
        {
          ...{ items: makeClass(of as ClassSpec, target), embedded: true, apart: false },
          ...shared,
        } as never,
      ),
    references: () => arrayProp({ items: target, ...shared } as never),
    reference: () => prop({ ref: target, ...shared } as never),
    object: () =>
      prop({ type: makeClass(of as ClassSpec, target), apart: false, ...shared } as never),
    map: () => prop({ type: Map, of: String, ...shared } as never),
  };
  return own[kind]?.() ?? prop({ type: TYPES[kind], ...shared } as never);
}

class Labelled extends FrameworkModel {
  get label(): string {
    return "label";
  }
}

/** Makes a class; its routes are added to it by {@linkcode route}. */
function makeClass(spec: ClassSpec, target: () => ModelClass, schemaOptions = {}) {
  const { fields, loose, virtual } = spec;
  class Plain extends FrameworkModel {}
  class Made extends (virtual ? Labelled : Plain) {
    static override configure(schema: mongoose.Schema): void {
      if (spec.kinds) {
        const name = `Kind${crypto.randomUUID()}`;
        schema.discriminator(name, new mongoose.Schema({ extra: String }), { value: "Kind" });
      }
    }
  }
  const metadata = {};
  for (const [name, field] of Object.entries(fields)) {
    const context = { kind: "field", name, static: false, private: false, metadata };
    decorate(declare(field, target), context);
    if (!["parts", "single", "links"].includes(name)) continue;
    const at = field.of ?? spec;
    const scoping = field.of ? scopeOf(field.of) : {};
    for (const [path, methods] of [["fast", FAST], ["slow", slow(at).methods]] as const) {
      const partial = methods.filter((_, index) => name !== "single" || ![0, 5].includes(index));
      const options = { route: `/${path}-${name}`, methods: partial, ...scoping };
      decorate(rest(options as never), context);
    }
  }
  Object.defineProperty(Made, Symbol.metadata, { value: metadata });
  const options = {
    minimize: false,
    id: false,
    ...schemaOptions,
    ...loose && { strict: false },
    ...virtual && { toJSON: { virtuals: true } },
    ...fields.name?.getter && { toJSON: { getters: true, virtuals: virtual === true } },
  };
  Object.assign(Made, { schemaOptions: options });
  return Made as ModelClass;
}

function route(made: ModelClass, given: object): void {
  const metadata = (made as unknown as Record<symbol, object>)[Symbol.metadata];
  const context = { kind: "class", name: "Made", metadata, addInitializer: () => {} };
  (rest(given as never) as unknown as (value: unknown, context: object) => void)(made, context);
}

/** The options of lists over all fields that clients see. */
function optionsOf({ root, listed }: World) {
  if (!listed) return { many: {}, single: {} };
  const named = (...kinds: string[]) =>
    Object.entries(root.fields).filter(([, { guard, kind }]) =>
      (guard === undefined || guard === "readonly") && (kinds.length === 0 || kinds.includes(kind))
    ).map(([name]) => name);
  const search = named("text");
  const single = { select: named(), populate: { link: true, links: true } };
  const sort = named("text", "number");
  const many = {
    ...single,
    ...{ page: { size: PAGE.size, max: PAGE.max } },
    ...sort.length > 0 && { sort },
    ...search.length > 0 && { search },
  };
  return { many, single };
}

/** Gives the root of a world its routes: without hooks, with hooks, and with lean ones. */
function routeRoot(root: ModelClass, world: World): void {
  const { many, single } = optionsOf(world);
  const shared = { ...scopeOf(world.root), ...world.required && { ifMatch: true } };
  const [, , ...fast] = FAST;
  const { hooks, writes } = slow(world.root);
  const reads = ({ ofList = {}, ...options }: { readonly ofList?: object }) => [
    all({ ...many, ...ofList, ...options } as never),
    one({ ...single, ...options } as never),
  ];
  const counted = reads({ ofList: world.listed ? { count: true } : {} });
  const lean = reads({ ...hooks as object, lean: true } as object);
  route(root, { route: "/fast", methods: [...counted, ...fast], ...shared });
  route(root, { route: "/slow", methods: [...reads(hooks), ...writes], ...shared });
  if (isLean(world)) route(root, { route: "/lean", methods: lean, ...shared });
}

/** Serves a world; disposing takes its collections away again. */
export async function serveWorld(
  world: World,
  { inBatches = false }: { readonly inBatches?: boolean } = {},
): Promise<ServedWorld> {
  const suffix = crypto.randomUUID().slice(0, 8);
  const collections = { roots: `judged_roots_${suffix}`, targets: `judged_targets_${suffix}` };
  const made = (spec: ClassSpec, collection: string) =>
    makeClass(spec, () => target, { collection, autoCreate: false, autoIndex: false });
  const target: ModelClass = made(world.target, collections.targets);
  route(target, { route: "/targets", methods: [one()], ...scopeOf(world.target) });
  const root = made(world.root, collections.roots);
  routeRoot(root, world);
  const failures: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => void failures.push(error);
  const app = express();
  app.use(express.json({ strict: false }));
  const batch = { path: "/batch" };
  app.use(
    Framework.initialize({
      models: [root, target],
      onError,
      queryMethod: true,
      ...inBatches && { batch },
    }),
  );
  const served = await start(app);
  const collection = (name: "roots" | "targets") =>
    mongoose.connection.collection(collections[name]);
  await collection("roots").insertMany(world.roots.map((each) => revive(each) as Doc));
  await collection("targets").insertMany(world.targets.map((each) => revive(each) as Doc));
  let sent = 0;
  return {
    ...served,
    send: ((method, path, options) => {
      sent++;
      return inBatches
        ? sendInBatch(served, { method, path, ...options })
        : served.send(method, path, options);
    }) as typeof served.send,
    sent: () => sent,
    tags: new Map(),
    inBatches,
    failures,
    stored: () => readStored(collection("roots") as never, collections.targets),
    select: async (filter) =>
      (await collection("roots").distinct("_id", revive(filter) as object)).map(String),
    async [Symbol.asyncDispose]() {
      await served.stop();
      await Promise.all([collection("roots").drop(), collection("targets").drop()]);
    },
  };
}

/** Reads both collections by one command. */
async function readStored(
  roots: mongoose.mongo.Collection,
  targets: string,
): Promise<Pick<World, "roots" | "targets">> {
  const as = (kind: string) => [
    { $sort: { _id: 1 } } as const,
    { $project: { _id: 0, kind: { $literal: kind }, doc: "$$ROOT" } },
  ];
  const others = { $unionWith: { coll: targets, pipeline: as("targets") } };
  const found = await roots.aggregate([...as("roots"), others]).toArray();
  const docs = (kind: string) => found.filter((each) => each.kind === kind).map(({ doc }) => doc);
  return JSON.parse(JSON.stringify({ roots: docs("roots"), targets: docs("targets") }));
}

/** Makes identifiers of what looks like one. */
function revive(value: unknown): unknown {
  if (typeof value === "string" && /^0{20}\d{4}$/.test(value)) {
    return new mongoose.Types.ObjectId(value);
  }
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, revive(each)]));
}
