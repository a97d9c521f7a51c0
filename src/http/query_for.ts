// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { MAX_TIME_MS } from "../database/time_budget.ts";
import { HookFailure } from "../declare/hooks/run_hook.ts";
import { describeModel } from "../declare/model/describe_model.ts";
import type { FrameworkModel, ModelClass, ModelOf } from "../declare/model/framework_model.ts";
import type { ModelQuery } from "../declare/operations/action.ts";
import { OPERATIONS } from "../declare/operations/operation.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { copyFilter, everyFilter } from "../filter/filters.ts";
import { completeQueryLimits } from "../filter/q/limits.ts";
import type { QueryLimits } from "../filter/q/limits.ts";
import { countSelected, selectLevel } from "../pipeline/open_level.ts";
import { openCall } from "../pipeline/request/call.ts";
import { foreignRequest } from "../pipeline/request/foreign_request.ts";
import { Reporter } from "../pipeline/request/reporter.ts";
import type { Route } from "../pipeline/request/route.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { describeShape } from "../schema/fields/shape.ts";
import { completeBodyLimits } from "../write/body/read_body.ts";

/** Options of `Framework.queryFor()`. */
export interface QueryForOptions {
  /** Limits on the URL parameter `q`. */
  readonly queryLimits?: QueryLimits;
  /**
   * The route of the `@rest` whose `scope` and `getConnection` apply. Needed if `getConnection` differs between those of a
   * class.
   *
   * @default {undefined, the scopes of all `@rest` on the class apply}
   */
  readonly route?: string;
}

export async function queryFor<M extends FrameworkModel>(
  req: Request,
  target: ModelClass<M>,
  options: QueryForOptions = {},
): Promise<ModelQuery<M>> {
  const route = routeFor(target, options);
  // Hooks of the request run meanwhile.
  const own = foreignRequest(req as FrameworkRequest);
  const { acting, badQuery } = openCall(route, { req: own, count: countSelected });
  if (badQuery !== undefined) throw badQuery;
  try {
    const { filter, scope } = await selectLevel(acting);
    const model = await acting.model();
    // A copy is trusted, where the application has set `sanitizeFilter`.
    const trusted = copyFilter(castFilter(model, everyFilter(filter, scope)));
    return { filter: trusted, model: model as unknown as ModelOf<ModelClass<M>> };
  } catch (error) {
    throw error instanceof HookFailure ? error.thrown : error;
  }
}

/** A route without hooks, over the scopes of the `@rest` that apply. */
function routeFor(target: ModelClass, { queryLimits, route }: QueryForOptions): Route {
  const rests = describeModel(target).rests.filter((rest) =>
    route === undefined || rest.route === route
  );
  const [rest, ...others] = rests;
  if (rest === undefined) {
    const place = route === undefined ? "" : ` with route "${route}"`;
    throw new TypeError(`Cannot query "${target.name}": it has no @rest${place}`);
  }
  if (others.some(({ getConnection }) => getConnection !== rest.getConnection)) {
    throw new TypeError(`Cannot query "${target.name}": name the route whose connection applies`);
  }
  const shape = describeShape(buildSchema(target).schema);
  const scopes = rests.map(({ scope }) => scope).filter((scope) => scope !== undefined);
  return {
    path: rest.route ?? "",
    operation: OPERATIONS.all,
    levels: [{
      ...{
        target,
        shape,
        operation: "all",
        kind: OPERATIONS.all,
        hooks: {},
        parameters: [],
        scopes,
      },
      versionKey: undefined,
    }],
    ...rest.getConnection && { getConnection: rest.getConnection },
    maxTimeMS: MAX_TIME_MS,
    sendTimeoutMS: MAX_TIME_MS,
    limits: completeQueryLimits(queryLimits),
    bodyLimits: completeBodyLimits(),
    reporter: new Reporter(),
  };
}
