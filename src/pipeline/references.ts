import type { Connection, Model } from "mongoose";
import { runHook } from "../declare/hooks/run_hook.ts";
import { bindingRests, scopesOf } from "../declare/model/describe_model.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { registeredModels } from "../declare/model/records.ts";
import { isHookName } from "../declare/operations/operation.ts";
import type { RestRecord } from "../declare/model/records.ts";
import { isPassed } from "../declare/hooks/compose.ts";
import type { HookName, Hooks, PreFetch } from "../declare/hooks/hooks.ts";
import { forbidden, type Problems } from "../errors/refusals.ts";
import { withConditions } from "../filter/cast_filter.ts";
import { checkFilter } from "../filter/check_filter.ts";
import { everyFilter, type Filter, KEEP_CONDITIONS } from "../filter/filters.ts";
import { adoptionOf } from "../schema/adopted/adoption.ts";
import { describeShape, type FieldShape } from "../schema/fields/shape.ts";
import { untypedModel } from "../schema/get_model.ts";
import { modelName, referredClass } from "../schema/model_name.ts";
import { BATCH_SIZE } from "../schema/mongoose/statements/bound_replies.ts";
import { castIdentifier } from "../sources/entities.ts";
import type { NamedReference } from "../write/body/cast_body.ts";
import { storedText } from "../store/values.ts";
import type { Fail } from "./option_reader.ts";
import { type LevelContext, requestView } from "./request/request_context.ts";

/** `target` is missing for a plain model of Mongoose. */
export interface ReferredModel {
  readonly model: Model<unknown>;
  readonly target?: ModelClass;
  readonly scope: Filter;
}

/**
 * With `isGuarded`, clients see the entities or select by them, so the entities' `preFetch` hooks run, and may narrow
 * the scope.
 */
export async function referredModels(
  context: LevelContext,
  fields: Iterable<FieldShape>,
  { isGuarded = false }: { readonly isGuarded?: boolean } = {},
): Promise<ReadonlyMap<FieldShape, ReferredModel>> {
  const { db } = await context.model();
  const scopesOf = {
    guarded: new Map<Model<unknown>, Filter>(),
    open: new Map<Model<unknown>, Filter>(),
  };
  const referred = new Map<FieldShape, ReferredModel>();
  for (const field of fields) {
    const named = namedModel(field, db);
    const asksGuards = isGuarded && !isUnguarded(field);
    const scopes = asksGuards ? scopesOf.guarded : scopesOf.open;
    const scope = scopes.get(named.model) ?? await classScope(context, { ...named, asksGuards });
    scopes.set(named.model, scope);
    referred.set(field, { ...named, scope });
  }
  return referred;
}

export function referredTarget({ type }: FieldShape): ModelClass | undefined {
  const ref: unknown = type?.options.ref;
  // `ref` may be the name of a class whose model is not compiled yet.
  const target = referredClass(ref) ?? registeredModels().find(({ name }) => name === ref);
  // `ref` may name a model of another connection. The reference then has no class, and cannot be populated.
  const isForeign = type?.options.identifierOnly === true && target !== undefined &&
    adoptionOf(target) !== undefined && modelName(target) !== ref;
  return isForeign ? undefined : target;
}

export const SAY_AT_FIELD = "which the field says: @prop({ ref, unguarded: true })";

export function guardsOf({ preFetch }: Pick<Hooks<never>, "preFetch">): readonly PreFetch[] {
  return preFetch === undefined ? [] : [preFetch];
}

/** A hook of `one()` does not run for references, which could reveal entities or fields that it hides. */
export function checkGuards(
  reference: FieldShape,
  { target, passed, skipsGuard, fail }: {
    readonly target: ModelClass;
    readonly passed: readonly PreFetch[];
    readonly skipsGuard: boolean;
    readonly fail: Fail;
  },
): void {
  if (isUnguarded(reference)) return;
  const isOpen = ({ open: ofClass, methods }: RestRecord) =>
    methods.every(({ operation, hooks: { open = ofClass } }) => operation !== "one" || open);
  if (skipsGuard && !bindingRests(target).every(isOpen)) {
    throw fail(
      `but the guard of the router would not run for one() of "${target.name}": open both operations, or set ` +
        `unguarded: true at the field if everybody may see what its scope allows`,
    );
  }
  const name = readersOf(target).map((hooks) => missedHook(hooks, passed)).find((each) => each);
  if (name === undefined) return;
  throw fail(
    `but hook "${name}" of one() of "${target.name}" would not run: give both operations the same "preFetch", or set ` +
      `unguarded: true at the field if every client may see what its scope allows`,
  );
}

function missedHook(hooks: Hooks<object>, passed: readonly PreFetch[]): HookName | undefined {
  if (!guardsOf(hooks).every((guard) => isPassed(guard, passed))) return "preFetch";
  const names = Object.keys(hooks).filter(isHookName);
  return names.find((name) => name !== "preFetch" && hooks[name] !== undefined);
}

function readersOf(target: ModelClass): readonly Hooks<object>[] {
  return bindingRests(target).flatMap(({ methods }) => methods)
    .filter(({ operation }) => operation === "one").map(({ hooks }) => hooks as Hooks<object>);
}

function isUnguarded({ type }: FieldShape): boolean {
  return type?.options.unguarded === true;
}

function namedModel(field: FieldShape, connection: Connection): Omit<ReferredModel, "scope"> {
  const ref: unknown = field.type?.options.ref;
  const own = referredClass(ref) === undefined ? connection.models[String(ref)] : undefined;
  if (own !== undefined && !field.type?.options.identifierOnly) return { model: own };
  const target = referredTarget(field);
  if (target !== undefined) {
    return { model: untypedModel(target, connection), target };
  }
  throw new TypeError(
    `Cannot follow "${field.type?.path}": its reference names no model on the connection of the request`,
  );
}

async function classScope(
  { req, route }: LevelContext,
  { model, target, asksGuards }: Omit<ReferredModel, "scope"> & { readonly asksGuards: boolean },
): Promise<Filter> {
  if (target === undefined) return {};
  const { parent: _parent, ...state } = req.framework;
  // The `scope` is written for reads, so the request looks like a read of one entity.
  const framework = {
    ...state,
    filter: {},
    options: {},
    projection: {},
    operation: "one",
    model: () => Promise.resolve(model as never),
  };
  const request = requestView(req, { framework });
  const shape = describeShape(model.schema);
  const scopes: Filter[] = [];
  for (const scope of [...scopesOf(target), ...route.features.conditionsOf(target, "reference")]) {
    const given = await runHook("scope", () => scope(request));
    scopes.push(checkFilter(given, { what: "scope", model: target.name, shape }));
  }
  for (const guard of asksGuards ? readersOf(target).flatMap(guardsOf) : []) {
    if (await runHook<unknown>("preFetch", () => guard(request)) !== true) throw forbidden();
    const { filter } = request.framework;
    scopes.push(checkFilter(filter, { what: "filter", model: target.name, shape }));
  }
  return everyFilter(...scopes);
}

interface CheckedReference extends NamedReference {
  readonly key?: string;
}

export async function missingReferences(
  context: LevelContext,
  references: readonly CheckedReference[],
): Promise<Problems | undefined> {
  if (references.length === 0) return undefined;
  const referred = await referredModels(context, new Set(references.map(({ field }) => field)));
  const found = await Promise.all(Array.from(referred, ([field, model]) => {
    const named = references.filter((each) => each.field === field);
    return lookUp(context, { ...model, references: named });
  }));
  const missing = new Set(found.flat());
  if (missing.size === 0) return undefined;
  // The message must not reveal whether an entity outside of the scope exists.
  const problems = references.filter((each) => missing.has(each)).map(({ path, key = path }) => [
    key,
    { message: `Value at "${path}" does not refer to an entity`, kind: "exists" },
  ]);
  return Object.fromEntries(problems);
}

async function lookUp(
  { timeBudget, route: { maxTimeMS } }: LevelContext,
  { model, scope, references }: ReferredModel & {
    readonly references: readonly CheckedReference[];
  },
): Promise<CheckedReference[]> {
  const ids = new Map<string, unknown>();
  const texts = references.map(({ id }) => {
    const cast = castIdentifier(id, model);
    const text = cast === undefined ? undefined : storedText(cast);
    if (text !== undefined) ids.set(text, cast);
    return text;
  });
  const options = { ...KEEP_CONDITIONS, lean: true, maxTimeMS, batchSize: BATCH_SIZE };
  const query = model.find({}, { _id: 1 }, options);
  const named = withConditions(query, everyFilter({ _id: { $in: [...ids.values()] } }, scope));
  const found = ids.size === 0 ? [] : await timeBudget.wait(named.exec()) as { _id: unknown }[];
  const foundIds = new Set<string | undefined>(found.map(({ _id }) => storedText(_id)));
  return references.filter((_, index) => !foundIds.has(texts[index]));
}
