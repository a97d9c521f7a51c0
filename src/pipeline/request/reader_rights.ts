import type { FieldRule } from "../../declare/decorators/field_options.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { HookFailure, isPromise } from "../../declare/hooks/run_hook.ts";
import { notFound } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { isModelClass } from "../../schema/build_field.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { type Shape, shapeForAll } from "../../schema/fields/shape.ts";
import { Rights } from "../../schema/fields/rights.ts";
import { memoize } from "../../schema/memoize.ts";
import { type LevelContext, readFilter } from "./request_context.ts";
import type { Level } from "./route.ts";

/** Without the limit, the results of many functions would fill the memory. */
export const MAX_CACHED = 512;

/** The keys are the functions `hidden` and `readonly` and their results. The least recently used are first. */
const cachedRights = new Map<string, Rights>();

const functionIds = new WeakMap<FieldRule, number>();
let lastId = 0;

function idOf(restriction: FieldRule): number {
  let id = functionIds.get(restriction);
  if (id === undefined) functionIds.set(restriction, id = ++lastId);
  return id;
}

/** Routes with the same functions share one object, so its data is compiled once. */
function rightsFor(key: string, answers: ReadonlyMap<FieldRule, boolean>): Rights {
  const rights = cachedRights.get(key) ?? new Rights(answers);
  cachedRights.delete(key);
  cachedRights.set(key, rights);
  if (cachedRights.size > MAX_CACHED) {
    cachedRights.delete(cachedRights.keys().next().value as string);
  }
  return rights;
}

export type RouteRights = (req: FrameworkRequest) => readonly Level[];

export function rightsOf(levels: readonly Level[]): RouteRights | undefined {
  const names = new Map<FieldRule, string>();
  for (const [target, shape] of levels.flatMap(shapesOf)) {
    for (const [restriction, path] of shape.restrictions) {
      if (!names.has(restriction)) names.set(restriction, `property "${path}" of "${target.name}"`);
    }
  }
  if (names.size === 0) return undefined;
  const functions = [...names.keys()].map(idOf).join();
  const levelsUnder = memoize((rights: Rights) => levels.map((level) => levelUnder(rights, level)));
  return (req) => {
    const results = new Map<FieldRule, boolean>();
    let answers = "";
    for (const [restriction, name] of names) {
      const answer = ask(restriction, { req, name });
      results.set(restriction, answer);
      answers += answer ? "1" : "0";
    }
    return levelsUnder(rightsFor(`${functions} ${answers}`, results));
  };
}

function shapesOf({ target, shape, action }: Level): [ModelClass, Shape][] {
  const others = [action?.body, action?.answer].flatMap((type): [ModelClass, Shape][] =>
    isModelClass(type) ? [[type, shapeForAll(buildSchema(type).schema)]] : []
  );
  return [[target, shape], ...others];
}

/** Any result but `false` restricts the field, so that a forgotten `return` never shows it. */
function ask(
  restriction: FieldRule,
  { req, name }: { readonly req: FrameworkRequest; readonly name: string },
): boolean {
  const failure = (why: string, options?: ErrorOptions) =>
    new HookFailure("rights", new TypeError(`Cannot tell the rights to ${name}: ${why}`, options));
  let result: unknown;
  try {
    result = restriction(req);
  } catch (cause) {
    throw cause instanceof RestError ? cause : failure("its function failed", { cause });
  }
  if (!isPromise(result)) return result !== false;
  Promise.resolve(result).catch(() => {});
  throw failure("its function is asynchronous");
}

function levelUnder(rights: Rights, level: Level): Level {
  const shape = level.shape.under(rights);
  const { options, filterPaths } = level;
  return {
    ...level,
    shape,
    rights,
    options: options.declared.under(shape),
    ...filterPaths && { filterPaths: filterPaths.under(shape) },
  };
}

/** The rights are known only after the `preFetch` hooks, so `q` is read again. */
export function narrowToReader(context: LevelContext): LevelContext {
  const { route, req } = context;
  if (route.rights === undefined) return context;
  const levels = route.rights(req);
  const narrowed = contextsTo(context).reduce<LevelContext | undefined>((above, each, depth) => {
    const level = levels[depth] as Level;
    if (above !== undefined) checkLink(level, above.level);
    return { ...each, above, level };
  }, undefined) as LevelContext;
  if (narrowed.level !== levels.at(-1)) return narrowed;
  // Only an error of this second reading counts: the first filter stays, with conditions that hooks may have added.
  const { badQuery } = readFilter(narrowed);
  if (badQuery !== undefined) throw badQuery;
  return narrowed;
}

/** The root is first. */
export function contextsTo(context: LevelContext): LevelContext[] {
  return [...context.above === undefined ? [] : contextsTo(context.above), context];
}

function checkLink({ link }: Level, above: Level): void {
  const { fields, rights } = above.shape;
  const options = link && fields.get(link.property)?.type?.options;
  if (rights.restricts(options?.hidden)) throw notFound();
}
