import mongoose from "mongoose";
import type { Document, Model, Schema, SchemaType } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { changesJson } from "../mongoose/documents/hide_in_json.ts";
import { copyConstraints, rememberDefault } from "../mongoose/schemas/field_rules.ts";
import { copyPluginMark } from "../mongoose/schemas/schema_members.ts";
import { guardValidators } from "../mongoose/schemas/validators.ts";
import { modelName } from "../model_name.ts";
import { accessOf, type SchemaAccess } from "./access.ts";
import { type Adoption, classOfModel, markAdopted, virtualsIn } from "./adoption.ts";
import { elementOf, embeddedSchema, typesOf } from "./paths.ts";
import { showJson } from "./shown_json.ts";
import { showVirtuals } from "./shown_virtuals.ts";

export interface CopyOptions {
  readonly adoption: Adoption;
  readonly embed: (part: ModelClass) => Schema;
  readonly refersTo: Set<ModelClass>;
}

interface Level extends CopyOptions {
  readonly access: SchemaAccess;
  readonly virtuals: ReadonlySet<string>;
}

/** Requests use this copy, so the application's model keeps its schema. */
export function copyAdopted(options: CopyOptions): Schema {
  const { adoption } = options;
  const { model, path } = adoption;
  const root = model.schema as Schema;
  const schema = path === undefined ? root : embeddedSchema(root.path(path)) as Schema;
  const virtuals = new Set(path === undefined ? virtualsIn(adoption) : []);
  const copy = copySchema(schema, { ...options, access: accessOf(adoption), virtuals });
  if (path === undefined) copy.set("collection", model.collection.collectionName);
  return copy.set("autoCreate", false).set("autoIndex", false)
    .set("autoSearchIndex", false) as Schema;
}

function copySchema(schema: Schema, level: Level): Schema {
  const { access, virtuals } = level;
  const paths = Object.fromEntries(
    Object.entries(schema.paths).map(([path, type]) => [path, copyable(type, { path, ...level })]),
  );
  const source = Object.create(schema, { paths: { value: paths }, subpaths: { value: {} } });
  const copy = source.clone() as Schema;
  copyPluginMark(schema, copy);
  markAdopted(copy);
  for (const [path, type] of typesOf(copy)) {
    copyConstraints(schema.path(path), type);
    if (type.options.default === undefined) rememberDefault(type);
    const { hidden, readonly } = access.get(path) ?? { hidden: true, readonly: true };
    for (const each of [type, ...elementsOf(type)]) ownRules(each, level);
    Object.assign(type.options, { hidden, readonly });
    if (!hidden) selectAgain(type);
  }
  guardValidators(copy);
  showVirtuals(copy, virtuals);
  if (changesJson(schema)) shapeJson(copy, level);
  return copy;
}

/** `shown` overrides the application's `select: false`, so queries must return the path. */
function selectAgain(type: SchemaType): void {
  delete (type.options as { select?: boolean }).select;
  delete (type as { selected?: boolean }).selected;
}

function elementsOf(type: SchemaType): SchemaType[] {
  const element = elementOf(type);
  return element === undefined ? [] : [element, ...elementsOf(element)];
}

/** The copy loses Mongrove's options, because the application may use these names with another meaning. */
const OWN_OPTIONS = ["apart", "dateOnly", "exists", "hidden", "managed", "readonly", "unguarded"];

const { ObjectId, UUID } = mongoose.Schema.Types;

function ownRules(type: SchemaType, { adoption, refersTo }: Level): void {
  // Mongoose's `schema.clone()` shares the validators with the original, which must not change.
  type.validators = type.validators.map((each) => ({ ...each }));
  const options = type.options as Record<string, unknown>;
  for (const name of OWN_OPTIONS) delete options[name];
  const { ref, refPath } = options;
  // Middleware may populate an identifier without `ref`, but an answer must show only the identifier.
  const isIdentifier = type instanceof ObjectId || type instanceof UUID;
  if (ref === undefined && refPath === undefined && !isIdentifier) return;
  options.identifierOnly = true;
  const referred = classOfModel(modelOf(ref, adoption.model));
  if (referred === undefined) return;
  options.ref = modelName(referred);
  refersTo.add(referred);
}

function modelOf(ref: unknown, model: Model<unknown>): unknown {
  if (typeof ref === "string") return model.db.models[ref];
  if (typeof ref !== "function" || "modelName" in ref) return ref;
  // A `ref` function with parameters or `this` depends on the document, so its model is unknown.
  return ref.length > 0 || ref.prototype !== undefined ? undefined : modelOf(ref(), model);
}

/**
 * Mongoose's `clone()` would share embedded schemas and element types, so changes would reach the application's model.
 */
function copyable(type: SchemaType, { path, ...level }: Level & { path: string }): SchemaType {
  const { schema, "$__schemaType": values, embeddedSchemaType: element } = type as {
    schema?: Schema;
    "$__schemaType"?: SchemaType;
    embeddedSchemaType?: SchemaType & { clone(): SchemaType };
  };
  const own = (name: string, value: unknown) => Object.create(type, { [name]: { value } });
  if (schema !== undefined) return own("schema", embeddedCopy(schema, { path, ...level }));
  if (values !== undefined) return own("$__schemaType", copyable(values, { path, ...level }));
  if (element !== undefined) return own("embeddedSchemaType", element.clone());
  return type;
}

function embeddedCopy(schema: Schema, { path, ...level }: Level & { path: string }): Schema {
  const part = level.adoption.parts.get(path);
  if (part !== undefined && level.adoption.path === undefined) return level.embed(part);
  const access = level.access.get(path)?.within ?? new Map();
  return copySchema(schema, { ...level, access, virtuals: new Set() });
}

function shapeJson(copy: Schema, level: Level): void {
  const show = showJson(copy, level);
  const own = copy.methods.toJSON as typeof mongoose.Document.prototype.toJSON | undefined;
  const toJson = function (this: Document, ...args: []): unknown {
    const json = (own ?? mongoose.Document.prototype.toJSON).apply(this, args);
    return show(json, this._id);
  };
  copy.method("toJSON", toJson as never, { suppressWarning: true } as never);
}
