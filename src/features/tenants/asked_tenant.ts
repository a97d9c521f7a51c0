import mongoose from "mongoose";
import type { Actor, FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isPromise, runHook } from "../../declare/hooks/run_hook.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { forbidden } from "../../errors/refusals.ts";
import type { Call } from "../../pipeline/request/request_context.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import type { TenantRule } from "./tenants.ts";

export type TenantFunction = (req: FrameworkRequest) => Actor | undefined;

/**
 * The property is set on the request, because parts of the framework use copies of the request that share its
 * properties.
 */
const TENANT = Symbol("mongrove tenant");

/**
 * Only a request to a class without tenants has this property, because it needs a tenant only if it reads an entity of
 * another class.
 */
const ANSWERS = Symbol("mongrove tenants");

/**
 * The function `tenant` is called once for each call of an operation. A renewal of the rights of a live list is another
 * call.
 */
const asked = new WeakSet<Call>();

type Answers = Map<TenantFunction, Actor>;

/** `origin` is another request if a batch contains the request. */
interface Asked {
  readonly answers: Answers;
  readonly origin: object;
  /** The function of the router that serves the request. */
  readonly own: TenantFunction;
}

/** A further request in a batch is refused if its tenant is not the same. */
const ofOrigins = new WeakMap<object, Answers>();

/**
 * If several routers serve a class, a request to one of them asks the function of this router. Any other request asks
 * the function of the last router.
 */
const functions = new WeakMap<ModelClass, Set<TenantFunction>>();

/** A request to another class uses this function if it reads entities of the class. */
export function rememberTenants(target: ModelClass, ask: TenantFunction): void {
  const all = functions.get(target) ?? new Set();
  // The function becomes the last function, also if an earlier router has the same function.
  all.delete(ask);
  functions.set(target, all.add(ask));
}

/** Throws a 403 if a renewal gets another tenant, so that the live list ends. */
export function askTenant(call: Call): void {
  if (asked.has(call)) return;
  asked.add(call);
  const { req, route } = call;
  const ask = route.settings.get("tenant") as TenantFunction;
  const tenant = tenantOf(call, ask);
  const before: unknown = Reflect.get(req, TENANT);
  if (before !== undefined && String(before) !== String(tenant)) throw forbidden();
  Reflect.set(req, TENANT, tenant);
}

/** Throws if the tenant does not fit, so that no request reaches or stores entities of another tenant. */
export function tenantFor(req: FrameworkRequest, { field, target }: TenantRule): unknown {
  const tenant: unknown = Reflect.get(req, TENANT) ?? tenantOutside(req, target);
  const type = buildSchema(target).schema.path(field);
  try {
    return castForQuery(type, tenant);
  } catch {
    throw new TypeError(`Cannot use the tenant in "${field}": ${tenant} is no ${type.instance}`);
  }
}

/** Each function is called only once for the request. */
export function keepAnswers({ req, route, origin }: Call): void {
  const own = route.settings.get("tenant") as TenantFunction | undefined;
  if (own === undefined) return;
  const asked: Asked = { answers: new Map(), origin, own };
  Reflect.set(req, ANSWERS, asked);
}

/**
 * The hooks of each request of a batch decide who sends it, so a request with another tenant than an earlier request is
 * refused with a 403.
 */
function tenantOf({ req, origin }: Pick<Call, "req" | "origin">, ask: TenantFunction): Actor {
  const tenant = tenantBy(ask, req);
  if (origin === req) return tenant;
  const known = ofOrigins.get(origin) ?? new Map();
  ofOrigins.set(origin, known);
  if (String(known.get(ask) ?? tenant) !== String(tenant)) throw forbidden();
  known.set(ask, tenant);
  return tenant;
}

/** The request is on no route of the class. */
function tenantOutside(req: FrameworkRequest, target: ModelClass): Actor {
  const { answers, origin = req, own } = Reflect.get(req, ANSWERS) as Partial<Asked> | undefined ??
    {};
  const all = [...functions.get(target) ?? []];
  const ask = all.find((each) => each === own) ?? all.at(-1);
  if (ask === undefined) {
    throw new TypeError(`Cannot tell the tenant of "${target.name}": no router serves the class`);
  }
  const tenant = answers?.get(ask) ?? tenantOf({ req, origin }, ask);
  answers?.set(ask, tenant);
  return tenant;
}

function tenantBy(ask: TenantFunction, req: FrameworkRequest): Actor {
  const tenant = runHook<unknown>("tenant", () => ask(req));
  if (isPromise(tenant)) Promise.resolve(tenant).catch(() => {});
  if (isTenant(tenant)) return tenant;
  const given = isPromise(tenant) ? "a promise" : tenant === "" ? "an empty text" : String(tenant);
  throw new TypeError(`Cannot use the result of tenant(), ${given}: it is no identifier`);
}

function isTenant(value: unknown): value is Actor {
  return typeof value === "string" && value !== "" || Number.isFinite(value) ||
    value instanceof mongoose.Types.ObjectId;
}
