// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { RouteOption } from "../declare/decorators/rest.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { HookFailure } from "../declare/hooks/run_hook.ts";
import { describeModel, knownBindingRests } from "../declare/model/describe_model.ts";
import type { FrameworkModel, ModelClass, ModelOf } from "../declare/model/framework_model.ts";
import type { ModelQuery } from "../declare/operations/action.ts";
import { OPERATIONS } from "../declare/operations/operation.ts";
import { type OptionKinds, wrongOption } from "../errors/option_kinds.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { everyFilter } from "../filter/filters.ts";
import { completeQueryLimits } from "../filter/q/limits.ts";
import { toAnswer } from "../pipeline/failures.ts";
import { countSelected, selectLevel } from "../pipeline/open_level.ts";
import { makeCall, requestView } from "../pipeline/request/request_context.ts";
import { routeNameOf } from "../pipeline/plugins/operation_names.ts";
import { narrowToReader, rightsOf } from "../pipeline/request/reader_rights.ts";
import type { Level, Route } from "../pipeline/request/route.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { exactFilter } from "../schema/mongoose/statements/exact_filter.ts";
import { shapeForAll } from "../schema/fields/shape.ts";
import { features } from "../features.ts";
import { DeclaredOptions } from "../pipeline/declared_options.ts";
import { cannotMount } from "../pipeline/option_reader.ts";
import { settingsOf } from "./initialize.ts";
import type { Limits } from "./limits.ts";

/** @internal The options of `Framework.queryFor()`. */
export interface QueryForOptions extends RouteOption {
  /** Limits on filters in `q`. The limits of the router do not apply, and neither do its lists in `filter`. */
  readonly limits?: Pick<Limits, "query">;
  /**
   * With `false`, only the scope selects entities, for requests whose `q` is for another model.
   *
   * @default {true}
   */
  readonly q?: boolean;
}

const OPTIONS: OptionKinds<QueryForOptions> = {
  limits: "group",
  q: "boolean",
  route: "text",
};

export async function queryFor<M extends FrameworkModel>(
  req: Request,
  target: ModelClass<M>,
  options: QueryForOptions = {},
): Promise<ModelQuery<M>> {
  const { limits: given, route: path, q = true } = options;
  const unknown = unknownOption(options, OPTIONS);
  if (unknown !== undefined) {
    throw new TypeError(`Cannot query "${target.name}": there is no option ${unknown}`);
  }
  const wrong = wrongOption(options, OPTIONS);
  if (wrong !== undefined) throw new TypeError(`Cannot query "${target.name}": ${wrong}`);
  const limits = completeQueryLimits(given?.query);
  const known = routeFor(target, { path, ignoresQ: !q });
  const route = { ...known, limits };
  // A copy gets another `req.framework`, because hooks of the request may still use theirs.
  const own = requestView(req as FrameworkRequest);
  const { context: asked, badQuery } = makeCall(route, { req: own, count: countSelected });
  try {
    // The scope, `hidden` and `readonly` get the same sender as the hooks.
    const { actor } = (req as Partial<FrameworkRequest>).framework ?? {};
    if (actor !== undefined) Object.assign(asked.state, { actor });
    const context = narrowToReader(asked);
    if (badQuery !== undefined) throw badQuery;
    const { filter, scope } = await selectLevel(context);
    const model = await context.model();
    const exact = exactFilter(castFilter(model, everyFilter(filter, scope)));
    return { filter: exact, model: model as unknown as ModelOf<ModelClass<M>> };
  } catch (error) {
    throw toAnswer(error instanceof HookFailure ? error.thrown : error);
  }
}

interface RouteKey {
  readonly path: string | undefined;
  readonly ignoresQ: boolean;
}

const routes = new WeakMap<ModelClass, Map<string, Route>>();

function routeFor(target: ModelClass, given: RouteKey): Route {
  const known = routes.get(target) ?? new Map<string, Route>();
  const key = JSON.stringify([given.path, given.ignoresQ]);
  const route = known.get(key) ?? makeRoute(target, given);
  routes.set(target, known.set(key, route));
  return route;
}

function makeRoute(target: ModelClass, { path: route, ignoresQ }: RouteKey): Route {
  const rests = route === undefined
    ? knownBindingRests(target)
    : describeModel(target).rests.filter((rest) => rest.route === route);
  if (rests === undefined) throw ambiguous(target, "scope");
  const [rest, ...others] = rests;
  if (rest === undefined) {
    const place = route === undefined ? "" : ` with route "${route}"`;
    throw new TypeError(`Cannot query "${target.name}": it has no @rest${place}`);
  }
  if (others.some(({ getConnection }) => getConnection !== rest.getConnection)) {
    throw ambiguous(target, "getConnection");
  }
  const shape = shapeForAll(buildSchema(target).schema);
  const scopes = rests.flatMap(({ scope }) => scope ?? []);
  const { schema } = buildSchema(target);
  const fail = (problem: string) => cannotMount(target, problem);
  const isDivided = rest.getConnection !== undefined || scopes.length > 0;
  const method = { operation: "all", hooks: {} };
  const place = {
    target,
    schema,
    shape,
    link: undefined,
    isDivided,
    methods: [method],
    leftOut: [],
    passed: [],
    skipsGuard: false,
    fail,
  };
  const levels: Level[] = [{
    target,
    routeName: routeNameOf(rest.route ?? ""),
    shape,
    options: new DeclaredOptions(features, { method, place }).under(shape),
    operation: "all",
    traits: OPERATIONS.all,
    hooks: {},
    isOpen: true,
    parameters: [],
    scopes,
    conditions: features.conditionsOf(target, "reference"),
    versionKey: undefined,
    ignoresQ,
  }];
  return {
    path: rest.route ?? "",
    operation: OPERATIONS.all,
    levels,
    rights: rightsOf(levels),
    ...rest.getConnection && { getConnection: rest.getConnection },
    ...settingsOf({}),
  };
}

function ambiguous(target: ModelClass, option: "scope" | "getConnection"): TypeError {
  const { name } = target;
  const paths = describeModel(target).rests.map(({ route }) => `{ route: "${route}" }`);
  return new TypeError(
    `Cannot query "${name}": it has several @rest with different "${option}". Call Framework.queryFor(req, ${name}, ` +
      `${paths.join(" or ")}), or set main: true on one of them`,
  );
}
