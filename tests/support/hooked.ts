import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  type HooksOf,
  type ModelClass,
  one,
  prop,
  remove,
  removeAll,
  rest,
  type RestOptions,
  update,
} from "../../mod.ts";
import type { HookName } from "../../src/declare/hooks/hooks.ts";
import type { OperationName } from "../../src/declare/operations/operation.ts";

export class Part extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ hidden: true })
  secret?: string;
}

export class Item extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  owner?: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: Part })
  part?: Part;
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
}

export type HooksByOperation = { readonly [K in OperationName]?: HooksOf<Item> };

/** Options of a {@linkcode hooked} model besides hooks. */
export type HookedOptions = Partial<
  Pick<RestOptions, "route" | "scope" | "getConnection" | "schemaOptions">
>;

export function sixOperations(hooks: HooksByOperation = {}) {
  return [
    all<Item>(hooks.all ?? {}),
    one<Item>(hooks.one ?? {}),
    create<Item>(hooks.create ?? {}),
    update<Item>(hooks.update ?? {}),
    remove<Item>(hooks.remove ?? {}),
    removeAll<Item>(hooks.removeAll ?? {}),
  ];
}

/** Each test makes a new model on `/items` with all six operations, so that no hook is shared. */
export function hooked(
  hooks: HooksByOperation = {},
  options: HookedOptions = {},
): ModelClass<Item> {
  const collection = `items_${crypto.randomUUID().slice(0, 8)}`;
  @rest({
    route: "/items",
    methods: sixOperations(hooks),
    ...options,
    // Mongoose would otherwise make the collections of all models in each new database.
    schemaOptions: { collection, autoCreate: false, autoIndex: false, ...options.schemaOptions },
  })
  class Hooked extends Item {}
  return Hooked;
}

/** Hooks that an operation never runs, and that prevent mounting. */
const NEVER: Partial<Record<OperationName, readonly HookName[]>> = {
  all: ["preSave", "persist"],
  one: ["preSave", "persist"],
  remove: ["preSend"],
  removeAll: ["preSend"],
};

/** The hooks that the operation runs. */
export function hooksFor<H extends object>(operation: OperationName, hooks: H): H {
  const never: readonly string[] = NEVER[operation] ?? [];
  return Object.fromEntries(
    Object.entries(hooks).filter(([name]) => !never.includes(name)),
  ) as H;
}

/** All six operations get the same hooks, if they run them. */
export function everywhere(hooks: HooksOf<Item>): HooksByOperation {
  return {
    all: hooksFor("all", hooks),
    one: hooksFor("one", hooks),
    create: hooks,
    update: hooks,
    remove: hooksFor("remove", hooks),
    removeAll: hooksFor("removeAll", hooks),
  };
}

/** A request of each operation, on an entity. */
export function callsFor(id: string): [OperationName, method: string, path: string][] {
  return [
    ["all", "GET", "/items"],
    ["one", "GET", `/items/${id}`],
    ["create", "POST", "/items"],
    ["update", "PATCH", `/items/${id}`],
    ["remove", "DELETE", `/items/${id}`],
    ["removeAll", "DELETE", "/items"],
  ];
}

/** Stores items. */
export async function store(model: ModelClass<Item>, ...names: string[]): Promise<string[]> {
  const docs = await getModel(model).create(names.map((name) => ({ name })));
  return docs.map(({ _id }) => String(_id));
}

/** The stored names, sorted. */
export async function namesIn(model: ModelClass<Item>): Promise<string[]> {
  const docs = await getModel(model).find().sort({ name: 1 }).lean();
  return docs.map(({ name }) => String(name));
}
