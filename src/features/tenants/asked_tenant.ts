import mongoose from "mongoose";
import type { Actor, FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isPromise, runHook } from "../../declare/hooks/run_hook.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { forbidden } from "../../errors/refusals.ts";
import type { Call } from "../../pipeline/request/request_context.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import type { TenantConfig } from "./tenants.ts";

export type TenantFunction = (req: FrameworkRequest) => Actor | undefined;

/** A property, because hooks get a proxy of the request, which a `WeakMap` would not find. */
const TENANT = Symbol("mongrove tenant");

/** A route without tenants calls `tenant()` only to read another class, and keeps the results here. */
const ANSWERS = Symbol("mongrove tenants");

/** Calls that have asked `tenant()`. Each later check of a live list is another call, and asks again. */
const asked = new WeakSet<Call>();

type Answers = Map<TenantFunction, Actor>;

interface Asked {
  readonly answers: Answers;
  readonly origin: object;
  readonly own: TenantFunction;
}

const ofOrigins = new WeakMap<object, Answers>();

/**
 * A request calls the function of the router that serves it. Elsewhere, as in `queryFor()`, the last function is
 * called.
 */
const functions = new WeakMap<ModelClass, Set<TenantFunction>>();

export function rememberTenants(target: ModelClass, ask: TenantFunction): void {
  const all = functions.get(target) ?? new Set();
  // The function must become the last, even if an earlier router has added it.
  all.delete(ask);
  functions.set(target, all.add(ask));
}

/** Throws a 403 if a later check gets another tenant, so that the live list ends. */
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

export function knownTenant(
  { req, origin, route }: Pick<Call, "req" | "origin" | "route">,
): Actor | undefined {
  const ask = route.settings.get("tenant") as TenantFunction | undefined;
  return ask && (Reflect.get(req, TENANT) as Actor | undefined ?? tenantOf({ req, origin }, ask));
}

/** A tenant of a wrong type fails here, and never reaches the filter. */
export function tenantFor(req: FrameworkRequest, { field, target }: TenantConfig): unknown {
  const tenant: unknown = Reflect.get(req, TENANT) ?? tenantOutside(req, target);
  const type = buildSchema(target).schema.path(field);
  try {
    return castForQuery(type, tenant);
  } catch {
    throw new TypeError(`Cannot use the tenant in "${field}": ${tenant} is no ${type.instance}`);
  }
}

export function keepAnswers({ req, route, origin }: Call): void {
  const own = route.settings.get("tenant") as TenantFunction | undefined;
  if (own === undefined) return;
  const asked: Asked = { answers: new Map(), origin, own };
  Reflect.set(req, ANSWERS, asked);
}

/** In a batch, the hooks of each request may set another sender. Two different tenants answer 403. */
function tenantOf({ req, origin }: Pick<Call, "req" | "origin">, ask: TenantFunction): Actor {
  const tenant = tenantBy(ask, req);
  if (origin === req) return tenant;
  const tenants = ofOrigins.get(origin) ?? new Map();
  ofOrigins.set(origin, tenants);
  if (String(tenants.get(ask) ?? tenant) !== String(tenant)) throw forbidden();
  tenants.set(ask, tenant);
  return tenant;
}

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
