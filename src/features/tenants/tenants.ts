import type { Schema } from "mongoose";
import { describeModel } from "../../declare/model/describe_model.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { escapePattern } from "../../filter/escape_pattern.ts";
import type { ClassFeature, ClassInRoute } from "../../pipeline/class_feature.ts";
import { cannotMount } from "../../pipeline/option_reader.ts";
import { referredTarget } from "../../pipeline/references.ts";
import { fieldsWithin, shapeForAll } from "../../schema/fields/shape.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import {
  changeIndexes,
  partialOptions,
  type SchemaIndex,
} from "../../schema/mongoose/schemas/change_indexes.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import {
  askTenant,
  keepAnswers,
  knownTenant,
  rememberTenants,
  tenantFor,
  type TenantFunction,
} from "./asked_tenant.ts";

export interface TenantConfig {
  readonly field: string;
  readonly target: ModelClass;
}

export const tenants: ClassFeature<TenantConfig> = {
  name: "tenant",
  settings: ({ tenant }) => tenant as TenantFunction | undefined,
  check(option, target) {
    const { value } = option;
    if (typeof value === "string" && describeModel(target).fields.has(value)) {
      return { field: value, target };
    }
    throw option.fail(`needs a field of the class, or false, as "tenant"`);
  },
  start: checkRouter,
  schema: protect,
  indexes(config, schema) {
    changeIndexes(schema, (index) => insideTenant(index, config));
  },
  fields: ({ field }) => ({ selecting: field, stamped: [field] }),
  tenantOf: knownTenant,
  admit: (_config, call) => void askTenant(call),
  without: { start: checkWithout, admit: keepAnswers },
  condition: (config, req, reach) =>
    reach === "everyone"
      ? {}
      : { [config.field]: ofTenant(tenantFor(req, config), { config, req }) },
  stamps: (config, { req, isNew }) => isNew ? { [config.field]: tenantFor(req, config) } : {},
};

function checkRouter({ field }: TenantConfig, place: ClassInRoute): void {
  const { target, route } = place;
  const ask = route.settings.get("tenant") as TenantFunction | undefined;
  if (ask === undefined) {
    throw cannotMount(
      target,
      `its "tenant" is "${field}", which needs the option "tenant" of initialize()`,
    );
  }
  rememberTenants(target, ask);
  checkReferred(place);
}

function checkWithout(place: ClassInRoute): void {
  const { target, route } = place;
  if (route.settings.get("tenant") === undefined) return;
  const isRoot = route.levels[0]?.target === target;
  if (isRoot && !saysTenant(target)) {
    throw cannotMount(target, `its @rest does not say "tenant": name its field, or say false`);
  }
  checkReferred(place);
}

/** A reference to a class without `tenant` would lead to the entities of all tenants. */
function checkReferred({ target }: ClassInRoute): void {
  for (const field of fieldsWithin(shapeForAll(buildSchema(target).schema))) {
    const referred = referredTarget(field);
    if (referred === undefined) continue;
    if (saysTenant(referred)) continue;
    const refers = `its field "${field.type?.path}" refers to "${referred.name}"`;
    throw cannotMount(
      target,
      describeModel(referred).rests.length > 0
        ? `${refers}, whose @rest does not say "tenant"`
        : `${refers}, which has no @rest with a "tenant"; "embedded: true" in @arrayProp, or "type" in @prop, embeds it`,
    );
  }
}

function saysTenant(target: ModelClass): boolean {
  return describeModel(target).rests.some(({ tenant }) => tenant !== undefined);
}

const NO_TENANTS: readonly string[] = [
  ...["Embedded", "DocumentArray", "Array", "Map", "Mixed", "Date", "Boolean", "Buffer"],
];

function protect({ field }: TenantConfig, schema: Schema): void {
  const type = schema.path(field);
  if (NO_TENANTS.includes(type.instance)) {
    throw new TypeError(
      `property "${field}" is the "tenant", so it holds a text, a number or an identifier, not ${type.instance}`,
    );
  }
  Object.assign(type.options, { readonly: true });
  const stamps = Object.values(stampFields(schema));
  if (stamps.includes(field)) {
    throw new TypeError(`property "${field}" is a timestamp, and no tenant`);
  }
}

/** A collation may make `$eq` match two tenants, `acme` and `ACME`, but a regular expression ignores it. */
function ofTenant(
  tenant: unknown,
  { config: { target }, req }: { readonly config: TenantConfig; readonly req: FrameworkRequest },
): unknown {
  const collation: unknown = req.framework?.options.collation ??
    buildSchema(target).schema.get("collation" as never);
  if (typeof tenant !== "string" || collation === undefined) return tenant;
  return { $eq: tenant, $regex: `^${escapePattern(tenant)}\\z` };
}

/** Adds the tenant to a unique index, so that two tenants can store the same value. */
function insideTenant(index: SchemaIndex, { field, target }: TenantConfig): SchemaIndex {
  const [keys, options] = index;
  const names = Object.keys(keys);
  const isGlobal = names.length === 1 && names.some((name) => {
    const { unique } = describeModel(target).fields.get(name)?.options ?? {};
    return Object(unique).global === true;
  });
  if (!options.unique || isGlobal || names.includes(field)) return index;
  return [{ [field]: 1, ...keys }, partialOptions(index)];
}
