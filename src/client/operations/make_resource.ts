import type { AnyOptions } from "./any_options.ts";
import type { Operations } from "./operations.ts";

type Options = AnyOptions | undefined;

export type AnyResource = Readonly<Record<string, (...args: never[]) => unknown>>;

export function makeResource(list: Operations): AnyResource {
  return {
    all: (options: Options) => list.list(options),
    each: (options: Options) => list.each(options),
    groups: async (options: Options) => (await list.list(options)).items,
    live: (options: Options) => list.live(options),
    one: async (id: string, options: Options) => await list.below(id).read(options),
    create: (body: object, options: Options) => list.write("POST", body, options),
    createMany: (bodies: readonly object[], options: Options) => list.createMany(bodies, options),
    update: async (id: string, body: object, options: Options) =>
      await list.below(id).write("PATCH", body, options),
    updateAll: (body: object, options: Options) => list.updateAll(body, options),
    replace: async (key: string, body: object, options: Options) =>
      await list.below(key).write("PUT", body, options),
    remove: async (id: string, options: Options) =>
      await list.below(id).write("DELETE", undefined, options),
    removeAll: (options: Options) => list.removeAll(options),
    history: async (id: string, options: Options) =>
      (await list.below(id, "history").list(options)).items,
    revert: (id: string, version: number, options: Options) =>
      act(list, "revert", id, { version }, options),
    restore: (id: string, options: Options) => act(list, "restore", id, undefined, options),
    action: (name: string, ...args: ActionArgs) => act(list, name, ...args),
    part: (name: string, id: string) => makePart(list.below(id, name)),
    file: (name: string, id: string) => makeFile(list.below(id, name)),
  };
}

type ActionArgs = [id: string, body?: object | undefined, options?: Options] | [
  body?: object,
  options?: Options,
];

/**
 * Runs an action on an entity if the arguments begin with an identifier, else on the list. A missing identifier, as in
 * `action("close", undefined, body)`, throws a `TypeError` if `body` has a key that is no option. Otherwise, `body`
 * counts as the options.
 */
async function act(list: Operations, name: string, ...args: ActionArgs): Promise<unknown> {
  const [first, second, third] = args;
  const isOfList = typeof first === "object" ? first !== null : first === undefined;
  if (isOfList && args.length < 3 && hasOnly(second ?? {}, ACTION_OPTIONS)) {
    return await list.below(name).act(first as object | undefined, second as Options);
  }
  return await list.below(first as string, name).act(second, third);
}

function makeSingle(entity: Operations): AnyResource {
  return {
    one: (options: Options) => entity.read(options),
    create: (body: object, options: Options) => entity.write("POST", body, options),
    update: (body: object, options: Options) => entity.write("PATCH", body, options),
    remove: (options: Options) => entity.write("DELETE", undefined, options),
    part: (name: string) => makePart(entity.below(name)),
    file: (name: string) => makeFile(entity.below(name)),
  };
}

function makeFile(file: Operations): AnyResource {
  return {
    get: (options: Options) => file.open(options),
    put: (bytes: Blob, options: Options) => file.put(bytes, options),
    remove: (options: Options) => file.write("DELETE", undefined, options),
  };
}

/**
 * Only the types distinguish a list from one entity. At run time, a call with an identifier is a call on a list.
 *
 * `remove()` without arguments sends `DELETE` to the URL of the property, which can remove all its entities. So
 * `remove(undefined)`, `remove({})` and unknown options throw, because a wrong identifier must not do this.
 */
function makePart(place: Operations): AnyResource {
  const list = makeResource(place);
  const names = Object.entries(makeSingle(place)).map(([name, ofEntity]) => [
    name,
    (...args: never[]) => (isOfEntity(name, args) ? ofEntity : list[name] ?? ofEntity)(...args),
  ]);
  return { ...list, ...Object.fromEntries(names) };
}

const REMOVE_OPTIONS = ["ifMatch", "q", "signal", "timeoutMS", "headers", "parameters"];
const ACTION_OPTIONS = [...REMOVE_OPTIONS, "method"];

function hasOnly(options: object, names: readonly string[]): boolean {
  return Object.keys(options).every((name) => names.includes(name));
}

function isOfEntity(name: string, args: readonly unknown[]): boolean {
  if (name === "part" || name === "file") return args.length === 1;
  const [first] = args;
  if (typeof first !== "object" || first === null) return args.length === 0;
  return name !== "remove" || Object.keys(first).length > 0 && hasOnly(first, REMOVE_OPTIONS);
}
