import type { Hooks } from "../../declare/hooks/hooks.ts";
import { describeModel, scopesOf } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { isAction, operationOf } from "../../declare/operations/action.ts";
import { performOf } from "../../pipeline/class_methods.ts";
import { operationOfRoute, routeNameOf } from "../../pipeline/plugins/operation_names.ts";
import { rightsOf } from "../../pipeline/request/reader_rights.ts";
import { actingLevel, type Level, type Route } from "../../pipeline/request/route.ts";
import { adoptionOf, isAdopted } from "../../schema/adopted/adoption.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { showsOtherValues } from "../../schema/mongoose/documents/hide_in_json.ts";
import { describeParts, type PartDescription } from "../../schema/describe_parts.ts";
import { shapeForAll } from "../../schema/fields/shape.ts";
import { versionKeyOf } from "../../schema/fields/system_fields.ts";
import { memoize } from "../../schema/memoize.ts";
import { collectionName, modelName } from "../../schema/model_name.ts";
import type { FeatureList } from "../../pipeline/feature_list.ts";
import { DeclaredOptions } from "../../pipeline/declared_options.ts";
import { cannotMount } from "../../pipeline/option_reader.ts";
import { guardsOf } from "../../pipeline/references.ts";
import {
  checkExample,
  checkIfMatch,
  checkKindOptions,
  checkPartRest,
  checkReferences,
  checkRest,
  checkUnselected,
} from "./_check_rest.ts";
import { checkIdentifier } from "./check_identifier.ts";
import { checkNamedHooks } from "./check_named_hooks.ts";
import { compileFilterPaths } from "./compile_filter_paths.ts";
import { compileWrites } from "./compile_writes.ts";
import { type Above, checkStrictGuards, guardedLevels, writerOf } from "./strict_guards.ts";
import { pathKey } from "../../describe/paths.ts";
import { forAll } from "../../errors/for_all.ts";

export type RouteSettings = Omit<SharedSettings, "getConnection">;

/**
 * Express takes the first match, so routes with fewer parameters come first: `/:id` could match another model's path.
 */
export function buildRoutes(
  models: readonly ModelClass[],
  settings: RouteSettings,
): Route[] {
  if (models.length === 0) {
    throw new TypeError("Cannot initialize: no model is registered, import them first");
  }
  if ((models as readonly unknown[]).includes(undefined)) {
    throw new TypeError(
      `Cannot initialize: "models" contains undefined. A circular import is the usual cause: ` +
        `call Framework.initialize() in a module that no model imports`,
    );
  }
  if (models.some((target) => typeof target !== "function")) {
    throw new TypeError(`Cannot initialize: "models" contains something that is not a model class`);
  }
  // A field may name a class by a string, so all names are registered before schemas are built.
  for (const target of models) modelName(target);
  const owners = new Map<string, ModelClass>();
  const routes = forAll(models, (target) => {
    const { rests } = describeModel(target);
    if (rests.length === 0) throw cannotMount(target, "it has no @rest");
    // Two classes with the same name and collection are an error: mostly, a module was evaluated twice. Adopted models
    // may be on several connections.
    const what = `collection "${collectionName(target, buildSchema(target).schema)}"`;
    const connection = adoptionOf(target)?.connection?.id ?? "";
    claim(owners, { target, what, key: `${what} of ${target.name} ${connection}` });
    const own = forAll(rests, (rest) => {
      const { getConnection } = rest;
      const shared = { ...settings, ...getConnection && { getConnection } };
      return branchRoutes(rootBranch({ target, rest, features: settings.features }), shared);
    }).flat();
    forAll(own, ({ operation: { verb }, path }) => {
      const what = `${verb.toUpperCase()} ${path}`;
      claim(owners, { target, what, key: `${verb} ${pathKey(path)}` });
    });
    return own;
  }).flat();
  const checks = [checkReached, checkActionPaths, checkStrictLists, checkStrictGuards];
  forAll(checks, (check) => check(routes));
  const parameters = ({ path }: Route) => path.split("/:").length;
  return routes.sort((a, b) => parameters(a) - parameters(b));
}

function rootBranch(
  { target, rest, features }: {
    readonly target: ModelClass;
    readonly rest: RestRecord;
    readonly features: FeatureList;
  },
): Branch {
  const { scope, ifMatch, open: isOpen = false } = rest;
  const scopes = scope === undefined ? [] : [scope];
  const conditions = features.conditionsOf(target, "route");
  const path = checkRest(target, { rest, features });
  const methods = [...rest.methods, ...features.methodsOf(target, rest)];
  return {
    methods,
    base: path === "" ? "/" : path,
    item: `${path}/:id`,
    above: [],
    level: {
      target,
      routeName: routeNameOf(path),
      scopes,
      conditions,
      parameter: "id",
      ifMatch,
      isOpen,
      guardedParameters: features.guardedParametersOf(target, rest),
    },
  };
}

function checkStrictLists(routes: readonly Route[]): void {
  forAll(routes.filter(({ strict }) => strict.lists), (route) => {
    const { operation, target, options: { declared: { unsaid } } } = actingLevel(route);
    if (unsaid === undefined) return;
    const need = `needs "${unsaid}", or "${unsaid}: false", because the router is strict`;
    throw cannotMount(target, `${operation}() ${need}`);
  });
}

function checkReached(routes: readonly Route[]): void {
  const levels = routes.flatMap((route) => route.levels);
  for (const owner of new Set(levels.map(({ target }) => target))) {
    const elsewhere = describeModel(owner).rests.some((rest) =>
      rest.methods.some(({ operation }) => operation === "one")
    );
    for (const part of elsewhere ? [] : describeParts(owner)) {
      if (levels.some((level) => isSame(level, part))) continue;
      const { property } = part.link;
      throw cannotMount(owner, `property "${property}" has @rest, which needs one() on its parent`);
    }
  }
}

interface Branch {
  readonly methods: RestRecord["methods"];
  readonly base: string;
  readonly item: string;
  readonly above: readonly Above[];
  readonly level: Pick<
    Level,
    | ("target" | "routeName" | "scopes" | "conditions" | "link" | "parameter" | "ifMatch")
    | ("isOpen" | "guardedParameters")
  >;
}

type SharedSettings = Omit<
  Route,
  "path" | "operation" | "levels" | "rights" | "reader" | "actions"
>;

function branchRoutes(branch: Branch, shared: SharedSettings): Route[] {
  const { methods, base, item, above, level } = branch;
  const { features, plugins } = shared;
  const actingOn = memoize(levelMaker(branch, shared));
  const reading = methods.find(({ operation }) => operation === "one");
  const readerOf = () => reading && actingOn(reading);
  const conditionalActions = () => {
    const actions = methods.filter((method) =>
      isAction(method) && method.on === "one" && performOf(method) === undefined
    );
    return actions.some((method) => isAction(method) && method.available !== undefined)
      ? actions.map(actingOn)
      : undefined;
  };
  const levelsOf = (last: Level) =>
    shared.strict.guards
      ? guardedLevels(above, last)
      : [...above.map(({ reader }) => reader), last];
  const buildRoute = (method: Method): Route => {
    const acting = actingOn(method);
    const added = { ...features.parametersOf(level, method), ...plugins.parameters };
    const parameters = [...acting.parameters, ...Object.keys(added)];
    const levels = levelsOf({ ...acting, parameters, added });
    const at = acting.traits.item ? item : base;
    const path = isAction(method) ? `${at.replace(/\/$/, "")}/${method.operation}` : at;
    const operation = acting.traits;
    const actions = method === reading ? conditionalActions() : undefined;
    const rights = rightsOf(levels);
    const route = { path, operation, levels, rights, reader: readerOf(), actions, ...shared };
    return plugins.deprecates(operationOfRoute(route)) ? asDeprecated(route) : route;
  };
  const buildPartRoutes = (part: PartDescription): Route[] => {
    const path = checkPartRest(part, features);
    const reader = readerOf();
    if (reader === undefined) return [];
    const inside = [...above, { reader, writer: () => writerOf(reader, methods) }];
    // A path repeats no property, or else models that refer to each other would have endless routes.
    if (inside.some((each) => isSame(each.reader, part))) return [];
    const place = { base: `${item}${path}`, above: inside, features };
    return branchRoutes(partBranch(part, place), shared);
  };
  return forAll([
    () => forAll(methods, buildRoute),
    () => forAll(describeParts(level.target), buildPartRoutes).flat(),
  ], (build) => build()).flat();
}

function asDeprecated(route: Route): Route {
  const { hooks, ...acting } = actingLevel(route);
  const last = { ...acting, hooks: { ...hooks, deprecated: true } };
  const levels = [...route.levels.slice(0, -1), last];
  return { ...route, levels, rights: rightsOf(levels) };
}

function levelMaker(
  { methods, above, level }: Branch,
  { features, getConnection, filterPaths: mode, strict, guard }: SharedSettings,
): (method: Method) => Level {
  const { target, link } = level;
  const { schema } = buildSchema(target);
  if (link?.embedded !== true) {
    checkIdentifier(schema, (problem) => cannotMount(target, problem));
  }
  const shape = shapeForAll(schema);
  checkReferences(shape, (problem) => cannotMount(target, problem));
  checkUnselected(shape, (problem) => cannotMount(target, problem));
  checkKindOptions(shape, (problem) => cannotMount(target, problem));
  const versionKey = link?.embedded ? above.at(-1)?.reader.versionKey : versionKeyOf({ schema });
  checkIfMatch(methods, { ...level, versionKey });
  const isDivided = getConnection !== undefined ||
    [...above.map(({ reader }) => reader), level].some(({ scopes }) => scopes.length > 0);
  return (method) => {
    const { operation, hooks } = method;
    const { perform, answerHeaders, checkRights, checkRequest, bytes } = performOf(method) ?? {};
    const fail = (problem: string) => cannotMount(target, `${operation}() ${problem}`);
    checkExample(method, { shape, fail });
    const leftOut = checkNamedHooks(method, { shape, fail });
    if (hooks.lean === true && !isAdopted(schema) && showsOtherValues(schema)) {
      throw fail("cannot be lean, because the model shows other values than are stored");
    }
    const isRead = operationOf(method).change === undefined;
    const passed = [
      ...isRead ? above.map(({ reader }) => reader.hooks) : [],
      hooks as Hooks<object>,
    ].flatMap(guardsOf);
    const isOpen = hooks.open ?? level.isOpen;
    const skipsGuard = guard !== undefined && isOpen;
    const facts = { isDivided, leftOut, passed, skipsGuard };
    const place = { target, schema, shape, link, methods, fail, ...facts };
    return {
      ...level,
      versionKey,
      shape,
      operation,
      traits: operationOf(method),
      hooks: hooks as Hooks<object>,
      isOpen,
      ...isAction(method) && { action: method },
      perform,
      answerHeaders,
      checkRights,
      checkRequest,
      bytes,
      parameters: hooks.parameters ?? [],
      filterPaths: compileFilterPaths(method, { ...place, mode }),
      options: new DeclaredOptions(features, { method, place }).under(shape),
      writes: perform === undefined
        ? compileWrites(method, { ...place, isStrict: strict.removals })
        : undefined,
    };
  };
}

function partBranch(
  part: PartDescription,
  { base, above, features }: Pick<Branch, "base" | "above"> & Pick<Route, "features">,
): Branch {
  const { link, target, rest } = part;
  const parameter = above.length === 1 ? "subId" : `subId${above.length}`;
  const scopes = rest.scope === undefined ? scopesOf(target) : [rest.scope];
  const conditions = link.embedded ? [] : features.conditionsOf(target, "reference");
  return {
    methods: features.partMethodsOf(part) ?? rest.methods,
    base,
    item: link.array ? `${base}/:${parameter}` : base,
    above,
    level: {
      target,
      routeName: routeNameOf(base),
      scopes,
      conditions,
      link,
      ifMatch: rest.ifMatch,
      isOpen: rest.open ?? false,
      ...link.array && { parameter },
    },
  };
}

function isSame(level: Level, { link }: PartDescription): boolean {
  return level.link?.owner === link.owner && level.link.property === link.property;
}

function claim(
  owners: Map<string, ModelClass>,
  { target, what, key }: {
    readonly target: ModelClass;
    readonly what: string;
    readonly key: string;
  },
): void {
  const owner = owners.get(key);
  owners.set(key, target);
  if (owner === undefined) return;
  throw cannotMount(target, `${what} is taken by "${owner.name}"${causeOf(target, owner)}`);
}

function causeOf(target: ModelClass, owner: ModelClass): string {
  const { name } = target;
  if (target === owner) return `: "models", its @rest or its "methods" have it twice`;
  return name === owner.name
    ? `; if its module was evaluated twice, as after vi.resetModules(), call initialize({ models: [${name}] })`
    : "";
}

/** A URL must not be both an action and another route, even with different HTTP methods. */
function checkActionPaths(routes: readonly Route[]): void {
  const owners = new Map<string, Route>();
  const acts = (route: Route) => actingLevel(route).action !== undefined;
  for (const route of routes.filter((each) => !acts(each))) {
    for (const path of [route.path, route.path.replace(/\/:[^/]*$/, "")]) {
      owners.set(pathKey(path), route);
    }
  }
  for (const route of routes.filter(acts)) {
    const key = pathKey(route.path);
    const owner = owners.get(key);
    owners.set(key, route);
    if (owner === undefined) continue;
    const taken = `${nameOf(route)} has the path of ${nameOf(owner)}, ${route.path}`;
    throw cannotMount(actingLevel(route).target, taken);
  }
}

function nameOf(route: Route): string {
  const { operation, action, target, link } = actingLevel(route);
  if (action !== undefined) return `action "${operation}"`;
  const place = link === undefined ? `"${target.name}"` : `property "${link.property}"`;
  return `${operation}() of ${place}`;
}

export function routeWith(
  route: Route,
  { option, value }: { readonly option: string; readonly value: unknown },
): Route {
  const acting = actingLevel(route);
  const { declared } = acting.options;
  if (declared.has(option)) return route;
  const options = declared.with(option, value).under(acting.shape);
  const levels = [...route.levels.slice(0, -1), { ...acting, options }];
  return { ...route, levels, rights: rightsOf(levels) };
}
