import type { Connection, Model } from "mongoose";
import { runHook } from "../../declare/hooks/run_hook.ts";
import { scopesOf } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { registeredModels } from "../../declare/model/records.ts";
import { checkFilter } from "../../filter/check_filter.ts";
import { everyFilter } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { getModel } from "../../schema/get_model.ts";
import { referredClass } from "../../schema/model_name.ts";
import type { LevelCall } from "../request/call.ts";
import { foreignRequest } from "../request/foreign_request.ts";

export interface ReferredModel {
  readonly model: Model<unknown>;
  /** Its class; `undefined` for a model that the host has made with Mongoose. */
  readonly target?: ModelClass;
  readonly scope: Filter;
}

type NamedModel = Omit<ReferredModel, "scope">;

/** Gives the models that references name on the connection of a request. Scopes are evaluated once each. */
export async function referredModels(
  at: LevelCall,
  fields: Iterable<FieldShape>,
): Promise<ReadonlyMap<FieldShape, ReferredModel>> {
  const { db } = await at.model();
  const scopes = new Map<Model<unknown>, Filter>();
  const referred = new Map<FieldShape, ReferredModel>();
  for (const field of fields) {
    const named = namedModel(field, db);
    const scope = scopes.get(named.model) ?? await classScope(at, named);
    scopes.set(named.model, scope);
    referred.set(field, { ...named, scope });
  }
  return referred;
}

export function referredTarget({ type }: FieldShape): ModelClass | undefined {
  const ref: unknown = type?.options.ref;
  // A class that is referred to by its name may not have been used yet.
  return referredClass(ref) ?? registeredModels().find(({ name }) => name === ref);
}

function namedModel(field: FieldShape, connection: Connection): NamedModel {
  const { type } = field;
  const ref: unknown = type?.options.ref;
  const own = referredClass(ref) === undefined ? connection.models[String(ref)] : undefined;
  if (own !== undefined) return { model: own };
  const target = referredTarget(field);
  if (target !== undefined) {
    return { model: getModel(target, connection) as unknown as Model<unknown>, target };
  }
  throw new TypeError(
    `Cannot follow "${type?.path}": its reference names no model on the connection of the request`,
  );
}

async function classScope({ req }: LevelCall, { model, target }: NamedModel): Promise<Filter> {
  if (target === undefined) return {};
  const { parent: _parent, ...state } = req.framework;
  // To the scopes, the request is a read of their own model.
  const framework = {
    ...state,
    ...{ filter: {}, options: {}, projection: {}, operation: "one" },
    model: () => Promise.resolve(model as never),
  };
  const request = foreignRequest(req, { framework });
  const shape = describeShape(model.schema);
  const scopes: Filter[] = [];
  for (const scope of scopesOf(target)) {
    const given = await runHook("scope", () => scope(request));
    scopes.push(checkFilter(given, { what: "scope", model: target.name, shape }));
  }
  return everyFilter(...scopes);
}
