import type { AnyOptions } from "./any_options.ts";
import type { Operations } from "./operations.ts";

type Options = AnyOptions | undefined;

/** The members of `Resource` and `Single`, without the types of a model. */
export type AnyResource = Readonly<Record<string, (...args: never[]) => unknown>>;

export function openResource(list: Operations): AnyResource {
  return {
    all: (options: Options) => list.list(options),
    each: (options: Options) => list.each(options),
    groups: async (options: Options) => (await list.list(options)).items,
    live: (options: Options) => list.live(options),
    one: async (id: string, options: Options) => await list.below(id).read(options),
    create: (body: object, options: Options) => list.create(body, options),
    createMany: (bodies: readonly object[], options: Options) => list.createMany(bodies, options),
    update: async (id: string, body: object, options: Options) =>
      await list.below(id).update(body, options),
    updateAll: (body: object, options: Options) => list.updateAll(body, options),
    replace: async (key: string, body: object, options: Options) =>
      await list.below(key).replace(body, options),
    remove: async (id: string, options: Options) => await list.below(id).remove(options),
    removeAll: (options: Options) => list.removeAll(options),
    action: async (name: string, ...args: ActionArgs) => await act(list, { name, args }),
    part: (name: string, id: string) => openPart(list.below(id, name)),
  };
}

type ActionArgs = [id: string, body?: object, options?: Options] | [
  body?: object,
  options?: Options,
];

/**
 * Runs an action on an entity if its arguments begin with an identifier. What stands in the place of one by mistake is
 * refused, as far as the options behind it are none.
 */
async function act(
  list: Operations,
  { name, args }: { readonly name: string; readonly args: ActionArgs },
): Promise<unknown> {
  const [first, second, third] = args;
  const isOfList = typeof first === "object" ? first !== null : first === undefined;
  if (isOfList && args.length < 3 && hasOnly(second ?? {}, ACTION_OPTIONS)) {
    return await list.below(name).act(first as object | undefined, second as Options);
  }
  return await list.below(first as string, name).act(second, third);
}

function openSingle(entity: Operations): AnyResource {
  return {
    one: (options: Options) => entity.read(options),
    create: (body: object, options: Options) => entity.create(body, options),
    update: (body: object, options: Options) => entity.update(body, options),
    remove: (options: Options) => entity.remove(options),
    part: (name: string) => openPart(entity.below(name)),
  };
}

/**
 * The operations on what a property holds: a list, whose calls begin with an identifier, or one entity. An identifier that
 * is missing by mistake, as in `remove(undefined)`, counts as one: it is refused, and never removes the list, and so is an
 * object in its place that is no option of `remove()`. `remove()` without arguments is that of one entity: what the
 * property holds is known to the types only.
 */
function openPart(place: Operations): AnyResource {
  const list = openResource(place);
  const names = Object.entries(openSingle(place)).map(([name, ofEntity]) => {
    const ofList = list[name] ?? ofEntity;
    const either = (...args: never[]) => (isOfEntity(name, args) ? ofEntity : ofList)(...args);
    return [name, either];
  });
  return { ...list, ...Object.fromEntries(names) };
}

const REMOVE_OPTIONS = ["ifMatch", "q", "signal", "timeoutMS", "headers", "parameters"];
const ACTION_OPTIONS = [...REMOVE_OPTIONS, "method"];

function hasOnly(options: object, names: readonly string[]): boolean {
  return Object.keys(options).every((name) => names.includes(name));
}

function isOfEntity(name: string, args: readonly unknown[]): boolean {
  if (name === "part") return args.length === 1;
  const [first] = args;
  if (args.length === 0 || typeof first !== "object" || first === null) return args.length === 0;
  return name !== "remove" || Object.keys(first).length > 0 && hasOnly(first, REMOVE_OPTIONS);
}
