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

/** A part of an {@linkcode Item}. */
export class Part extends FrameworkModel {
  /** Shown. */
  @prop()
  label?: string;
  /** A secret. */
  @prop({ hidden: true })
  secret?: string;
}

/** What hooks are tested on. */
export class Item extends FrameworkModel {
  /** Tells items apart. */
  @prop()
  name?: string;
  /** Whose it is. */
  @prop()
  owner?: string;
  /** A number. */
  @prop({ type: Number })
  rank?: number;
  /** A secret. */
  @prop({ hidden: true })
  secret?: string;
  /** An object with a secret. */
  @prop({ type: Part })
  part?: Part;
  /** Objects with secrets. */
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
}

/** Hooks by operation. */
export type HooksByOperation = { readonly [K in OperationName]?: HooksOf<Item> };

/** What a {@linkcode hooked} model may have besides hooks. */
export type HookedOptions = Partial<
  Pick<RestOptions, "route" | "scope" | "getConnection" | "schemaOptions">
>;

/** The six operations, with hooks. */
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

/**
 * Makes a model of its own, on `/items`, with all six operations and hooks on them. Each test makes its own, so that
 * no hook is shared.
 *
 * @param hooks The hooks.
 * @param options The other options of `@rest`.
 */
export function hooked(
  hooks: HooksByOperation = {},
  options: HookedOptions = {},
): ModelClass<Item> {
  const collection = `items_${crypto.randomUUID().slice(0, 8)}`;
  @rest({
    route: "/items",
    methods: sixOperations(hooks),
    ...options,
    // Mongoose would else make the collections of all models, again in each new database.
    schemaOptions: { collection, autoCreate: false, autoIndex: false, ...options.schemaOptions },
  })
  class Hooked extends Item {}
  return Hooked;
}

/** The hooks that an operation never runs. */
const NEVER: Partial<Record<OperationName, readonly HookName[]>> = {
  all: ["preSave", "persist"],
  one: ["preSave", "persist"],
  remove: ["preSend"],
  removeAll: ["preSend"],
};

/** Gives those of some hooks that an operation runs: one that it never runs could not be mounted. */
export function hooksFor<H extends object>(operation: OperationName, hooks: H): H {
  const never: readonly string[] = NEVER[operation] ?? [];
  return Object.fromEntries(
    Object.entries(hooks).filter(([name]) => !never.includes(name)),
  ) as H;
}

/** Gives the same hooks to all six operations, as far as they run them. */
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

/** How to call each operation, on an entity with an identifier. */
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

/** Stores items with these names. */
export async function store(model: ModelClass<Item>, ...names: string[]): Promise<string[]> {
  const docs = await getModel(model).create(names.map((name) => ({ name })));
  return docs.map(({ _id }) => String(_id));
}

/** The names of the items that are stored, in order. */
export async function namesIn(model: ModelClass<Item>): Promise<string[]> {
  const docs = await getModel(model).find().sort({ name: 1 }).lean();
  return docs.map(({ name }) => String(name));
}
