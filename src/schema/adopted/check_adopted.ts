import mongoose from "mongoose";
import type { Model, Schema, SchemaType } from "mongoose";
import type { ModelDescription } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import { logHint } from "../../errors/log.ts";
import { memoize } from "../memoize.ts";
import { makeDetachedConnection } from "../mongoose/connections.ts";
import { hasDefault, isAlwaysRequired } from "../mongoose/schemas/field_rules.ts";
import {
  findsByMiddleware,
  hasMiddleware,
  isModelMember,
  stampFields,
  virtualsOf,
} from "../mongoose/schemas/schema_members.ts";
import { accessOf, type SchemaAccess } from "./access.ts";
import { type Adoption, virtualsIn } from "./adoption.ts";
import { elementOf, embeddedSchema, typesOf } from "./paths.ts";
import { probe } from "./probe.ts";
import { isPopulated } from "./shown_json.ts";

/** Runs at the start, because plugins may change the model after `adopt()`. */
export function checkModel({ model, path }: Adoption): void {
  if (path !== undefined) return;
  const schema = model.schema as Schema;
  const { baseModelName } = model as { baseModelName?: string };
  const { discriminatorMapping } = schema as { discriminatorMapping?: object };
  if (model.discriminators || baseModelName !== undefined || discriminatorMapping) {
    throw new TypeError("it has discriminators, whose fields no route would know");
  }
  const replaced = Object.getOwnPropertyNames(model).find((name) =>
    isModelMember(name) && !ownMembers(mongoose).has(name)
  );
  if (replaced !== undefined) {
    throw new TypeError(
      `a static or plugin replaces "${replaced}" of the model, which does not bind all requests`,
    );
  }
  const encryption: unknown = (schema as { encryptionType?(): unknown }).encryptionType?.();
  if (encryption) throw new TypeError(`its schema has "encryptionType", which requests would skip`);
  checkSchema(schema, { prefix: "", above: [] });
}

const ownMembers = memoize((base: typeof mongoose) => {
  const bare = makeDetachedConnection(base).model("Probe", new mongoose.Schema({}, UNSTORED));
  return new Set(Object.getOwnPropertyNames(bare));
});

const UNSTORED = { autoCreate: false, autoIndex: false };

const { Types } = mongoose.Schema;

const KNOWN = [
  ...[Types.Array, Types.BigInt, Types.Boolean, Types.Buffer, Types.Date, Types.Decimal128],
  ...[Types.Double, Types.Int32, Types.Map, Types.Mixed, Types.Number, Types.ObjectId],
  ...[Types.String, Types.Subdocument, Types.UUID],
];

function checkSchema(
  schema: Schema,
  { prefix, above }: { readonly prefix: string; readonly above: readonly Schema[] },
): void {
  const place = prefix === "" ? "its schema" : `"${prefix.slice(0, -1)}"`;
  if (schema.get("strict") === false) {
    throw new TypeError(`${place} has "strict: false", which shows and takes undeclared fields`);
  }
  if (above.includes(schema)) throw new TypeError(`${place} holds itself, which has no end`);
  for (const [path, type] of typesOf(schema)) {
    const full = `${prefix}${path}`;
    checkType(type, full);
    const inner = embeddedSchema(type);
    if (inner !== undefined) checkSchema(inner, { prefix: `${full}.`, above: [...above, schema] });
  }
}

function checkType(type: SchemaType, path: string): void {
  const { Constructor, schemaName } = type as {
    Constructor?: { discriminators?: object | null };
    schemaName?: string;
  };
  if (Object.keys(Constructor?.discriminators ?? {}).length > 0) {
    throw new TypeError(`"${path}" has discriminators, whose fields no route would know`);
  }
  const element = elementOf(type);
  if (!KNOWN.some((each) => type instanceof each)) {
    const name = schemaName ?? type.instance ?? type.constructor.name;
    throw new TypeError(`"${path}" has the custom type "${name}", whose JSON form is not known`);
  }
  if (element === undefined) return;
  if (type.instance === "Array" && embeddedSchema(element) !== undefined) {
    throw new TypeError(`"${path}" holds lists of lists of objects`);
  }
  checkType(element, path);
}

export function checkShownNames(adoption: Adoption, { rests }: ModelDescription): void {
  const { model, shown, virtuals, writable, path } = adoption;
  if (path !== undefined) return;
  const schema = model.schema as Schema;
  const missing = tenantsOf(rests).find((tenant) => schema.path(tenant) === undefined);
  if (missing !== undefined) {
    throw new TypeError(`the schema lacks the path "${missing}", which "tenant" names`);
  }
  const known = new Set(allPaths(schema, ""));
  for (const [list, names] of Object.entries({ shown, writable })) {
    for (const name of names === "all" ? [] : names) {
      if (known.has(name) || list === "shown" && Object.hasOwn(virtualsOf(schema), name)) continue;
      throw new TypeError(`"${list}" names "${name}", which is no path of the schema`);
    }
  }
  const set = writable === "all" ? undefined : [...writable].find((name) => isSetBy(schema, name));
  if (set !== undefined) {
    throw new TypeError(`"writable" names "${set}", which Mongoose sets`);
  }
  const unknown = [...virtuals].find((name) => !Object.hasOwn(virtualsOf(schema), name));
  if (unknown !== undefined) {
    throw new TypeError(`"virtuals" names "${unknown}", which is no virtual of the schema`);
  }
  for (const name of virtualsIn(adoption)) checkVirtual(model, name);
}

function tenantsOf(rests: readonly RestRecord[]): string[] {
  return rests.map(({ tenant }: { tenant?: unknown }) => tenant)
    .filter((tenant) => typeof tenant === "string");
}

function isSetBy(schema: Schema, name: string): boolean {
  const stamps: readonly unknown[] = Object.values(stampFields(schema));
  return name === schema.get("versionKey") || stamps.includes(name) ||
    name === "_id" && hasDefault(schema.path(name));
}

const SECRETS = /passw|pwd|token|hash|salt|secret/i;

export function hintAtSecrets(target: ModelClass, adoption: Adoption): void {
  if (adoption.shown !== "all" || adoption.path !== undefined) return;
  const shown = shownPaths(accessOf(adoption), "").filter((path) => SECRETS.test(path));
  if (shown.length === 0) return;
  logHint(
    `"${target.name}" shows "${
      shown.join(`", "`)
    }", because "shown" is "all": list the paths if clients must not see it`,
  );
}

function shownPaths(access: SchemaAccess, prefix: string): string[] {
  return [...access].flatMap(([path, { hidden, within }]) => {
    const inner = within === undefined ? [] : shownPaths(within, `${prefix}${path}.`);
    return hidden ? [] : [`${prefix}${path}`, ...inner];
  });
}

function checkVirtual(model: Model<unknown>, name: string): void {
  const schema = model.schema as Schema;
  if (isPopulated(schema, name)) {
    throw new TypeError(
      `the virtual "${name}" is populated by Mongoose and cannot be shown: adopt its model too`,
    );
  }
  const json: unknown = name.split(".").reduce<unknown>(
    (at, key) => Object(at)[key],
    probe(model).json,
  );
  const shows = (schema.get("toJSON") as { virtuals?: unknown } | undefined)?.virtuals;
  if (json !== undefined || shows) return;
  throw new TypeError(
    `the virtual "${name}" is not in the JSON of the model: set toJSON: { virtuals: true }`,
  );
}

function allPaths(schema: Schema, prefix: string): string[] {
  return typesOf(schema).flatMap(([path, type]) => {
    const inner = type.instance === "Map" ? undefined : embeddedSchema(type);
    const steps = path.split(".").map((_, index, all) => all.slice(0, index + 1).join("."));
    return [
      ...steps.map((step) => `${prefix}${step}`),
      ...inner === undefined ? [] : allPaths(inner, `${prefix}${path}.`),
    ];
  });
}

export function refuseAdded(schema: Schema, before: ReadonlySet<string>): void {
  const added = Object.keys(schema.paths).find((path) => !before.has(path));
  if (added === undefined) return;
  throw new TypeError(`the schema lacks the path "${added}", which an option of "rest" needs`);
}

export function checkRests(schema: Schema, { description, adoption }: {
  readonly description: ModelDescription;
  readonly adoption: Adoption;
}): void {
  const { rests, parts } = description;
  hintAtTenants(schema, description);
  hintAtUpdates(schema, description);
  for (const name of parts.keys()) {
    if (accessOf(adoption).get(name)?.hidden) {
      throw new TypeError(`"parts" names "${name}", which is not in "shown"`);
    }
    if (findsByMiddleware(schema, "aggregate")) {
      throw new TypeError(
        `"parts" names "${name}", whose routes skip its middleware of find(): add middleware of aggregate()`,
      );
    }
    const creates = parts.get(name)?.some(isBoundCreate);
    const missing = creates && missingIn(accessOf(adoption).get(name)?.within, schema.path(name));
    if (missing) throw missingPath(`${name}.${missing}`);
  }
  const tenants = tenantsOf(rests);
  const missing = rests.some(isBoundCreate) && !hasMiddleware(schema, ["validate"]) &&
    missingPaths(schema, accessOf(adoption)).find((path) => !tenants.includes(path));
  if (missing) throw missingPath(missing);
}

function missingPath(path: string): TypeError {
  return new TypeError(
    `create() would always fail: "${path}" is required, has no default, and is not in "writable"`,
  );
}

/** With a unique index over all tenants, a 409 would reveal values of other tenants. */
function hintAtTenants(schema: Schema, { target, rests }: ModelDescription): void {
  const [tenant] = tenantsOf(rests);
  if (tenant === undefined) return;
  for (const [keys, { unique }] of schema.indexes()) {
    if (!unique || tenant in keys) continue;
    logHint(
      `"${
        Object.keys(keys).join()
      }" of "${target.name}" is unique over all tenants: begin the index with "${tenant}"`,
    );
  }
}

function hintAtUpdates(schema: Schema, { target, rests }: ModelDescription): void {
  const saves = rests.flatMap(({ methods }) => methods)
    .find(({ operation }) => operation === "update" || operation === "replace");
  if (saves === undefined || !hasMiddleware(schema, ["updateOne"])) return;
  logHint(
    `"${target.name}" has middleware of updateOne(), which ${saves.operation}() does not run: use middleware of save()`,
  );
}

/** Without a hook, a create always fails if clients cannot set a required field. */
function isBoundCreate({ methods }: Pick<RestRecord, "methods">): boolean {
  return methods.some(({ operation, hooks }) =>
    operation === "create" && hooks.preSave === undefined && hooks.persist === undefined
  );
}

function missingIn(access: SchemaAccess | undefined, type: SchemaType): string | undefined {
  const inner = embeddedSchema(type);
  return inner && access && missingPaths(inner, access)[0];
}

function missingPaths(schema: Schema, access: SchemaAccess): string[] {
  const stamps: readonly unknown[] = Object.values(stampFields(schema));
  return typesOf(schema).flatMap(([path, type]) => {
    const { readonly, within } = access.get(path) ?? {};
    if (stamps.includes(path) || hasDefault(type)) return [];
    if (readonly) return isAlwaysRequired(type) ? [path] : [];
    const inner = missingIn(within, type);
    return inner === undefined || !isAlwaysRequired(type) ? [] : [`${path}.${inner}`];
  });
}
