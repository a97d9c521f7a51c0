import mongoose from "mongoose";
import type { Actor, FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isPromise, runHook } from "../../declare/hooks/run_hook.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { forbidden } from "../../errors/refusals.ts";
import type { Call } from "../../pipeline/request/request_context.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import type { TenantRule } from "./tenants.ts";

/**
 * The function of an application that returns the tenant of a request, such as the company of the sender. The
 * application passes it as the option `tenant` of `Framework.initialize()`.
 */
export type TenantFunction = (req: FrameworkRequest) => Actor | undefined;

/**
 * The property of a request that holds its tenant. The property is set on the request, because parts of the framework
 * use copies of the request that share its properties.
 */
const TENANT = Symbol("mongrove tenant");

/**
 * The property of a request that stores the results of the functions that return its tenant, so that each function is
 * called once. Only a request to a class without tenants has this property, because it needs a tenant only if it reads
 * an entity of another class, such as a populated reference.
 */
const ANSWERS = Symbol("mongrove tenants");

/**
 * The calls of operations for which the function `tenant` of the application was called, because it is called once for
 * each call of an operation. When the rights of a live list are renewed, another call begins, and the function is
 * called again.
 */
const asked = new WeakSet<Call>();

/** The tenants of a request, by the functions of the application that have returned them. */
type Answers = Map<TenantFunction, Actor>;

/**
 * The tenants that functions of the application have returned for a request, and the request that the client has sent.
 * The latter is another request if a batch contains the former.
 */
interface Asked {
  readonly answers: Answers;
  readonly origin: object;
  /** The function of the router that serves the request. */
  readonly own: TenantFunction;
}

/**
 * The tenants that functions have returned for a batch, by the request with the batch. A further request in the batch
 * is refused if its tenant is not the same.
 */
const ofOrigins = new WeakMap<object, Answers>();

/**
 * The functions that return the tenants of requests to routes of the application, by class. If several routers serve a
 * class, a request to one of them asks the function of this router. Any other request asks the function of the last
 * router.
 */
const functions = new WeakMap<ModelClass, Set<TenantFunction>>();

/**
 * Stores the function that returns the tenants of requests to a class. A request to another class uses this function if
 * it reads entities of the class, such as populated references.
 */
export function rememberTenants(target: ModelClass, ask: TenantFunction): void {
  const all = functions.get(target) ?? new Set();
  // The function becomes the last one, also if an earlier router has the same function.
  all.delete(ask);
  functions.set(target, all.add(ask));
}

/**
 * Asks the application for the tenant of a request, once for each request and again for each renewal of a live list.
 * Throws a 403 if a renewal gets another tenant, so that the list ends.
 */
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

/**
 * Returns the tenant of a request, cast to the type of the field in which a class stores it. Throws if the tenant does
 * not fit, so that no request reaches or stores entities of another tenant.
 */
export function tenantFor(req: FrameworkRequest, { field, target }: TenantRule): unknown {
  const tenant: unknown = Reflect.get(req, TENANT) ?? tenantOutside(req, target);
  const type = buildSchema(target).schema.path(field);
  try {
    return castForQuery(type, tenant);
  } catch {
    throw new TypeError(`Cannot use the tenant in "${field}": ${tenant} is no ${type.instance}`);
  }
}

/**
 * Prepares a request to a class without tenants, so that each function of the application that returns a tenant is
 * called only once for the request. When the rights of a live list are renewed, the functions are called again.
 */
export function keepAnswers({ req, route, origin }: Call): void {
  const own = route.settings.get("tenant") as TenantFunction | undefined;
  if (own === undefined) return;
  const asked: Asked = { answers: new Map(), origin, own };
  Reflect.set(req, ANSWERS, asked);
}

/**
 * Calls the function of an application that returns the tenant of a request. Throws a 403 if an earlier request of the
 * same batch has had another tenant, because the hooks of each request decide who sends it.
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

/**
 * Returns the tenant for a read of a class by a request that is on no route of the class, such as for a populated
 * reference.
 */
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
