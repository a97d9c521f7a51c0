// What Mongoose has at run time and does not declare: every cast of that kind is here.
import mongoose from "mongoose";
import { isBuiltIn } from "./built_in.ts";
import { dropShownDefaults } from "./documents/shown_defaults.ts";
import { isLinearMethod } from "./documents/linear_documents.ts";
import type { Document, Schema, SchemaType } from "mongoose";

/** Names that Mongoose refuses as fields. */
export function reservedNames(): string[] {
  return Object.keys((mongoose.Schema as unknown as { reserved: object }).reserved);
}

/** Whether a field has a `required` validator. */
export function isRequired(type: SchemaType | undefined): boolean {
  return (type as { isRequired?: boolean } | undefined)?.isRequired === true;
}

/** Whether a field has a default. */
export function hasDefault(type: SchemaType | undefined): boolean {
  return rawDefault(type) !== undefined;
}

/** The default of a field for a document; `undefined` where it has none. */
export function defaultOf(type: SchemaType | undefined, doc: Document): unknown {
  const { getDefault } = (type ?? {}) as { getDefault?: (doc: Document, init: boolean) => unknown };
  return getDefault?.call(type, doc, false);
}

/** The default of a field as it was given: a value, or a function that gives it. */
export function rawDefault(type: SchemaType | undefined): unknown {
  return (type as { defaultValue?: unknown } | undefined)?.defaultValue;
}

/** The default of a field as it was given, not cast; a function of the user's gets the object. */
export function givenDefault(type: SchemaType | undefined, object: object): unknown {
  const defaultValue = rawDefault(type);
  return typeof defaultValue === "function" ? defaultValue.call(object, object) : defaultValue;
}

/** Whether the default of a field is a function that may look at the document. */
export function hasComputedDefault(type: SchemaType | undefined): boolean {
  const given = rawDefault(type);
  return typeof given === "function" && given !== Date.now;
}

/** Whether an array is empty by default, as Mongoose has it unless told otherwise. */
export function hasEmptyDefault(type: SchemaType | undefined): boolean {
  const { default: given } = (type?.options ?? {}) as { default?: unknown };
  const made = rawDefault(type);
  return (given === undefined || (Array.isArray(given) && given.length === 0)) &&
    typeof made === "function" && isBuiltIn(made);
}

/** Whether a new document gets a random identifier, as Mongoose has it unless told otherwise. */
export function hasUsualId(schema: Schema): boolean {
  const [own, usual] = [schema, new mongoose.Schema()].map((each) => rawDefault(each.path("_id")));
  return own === usual;
}

/** Whether a field is cast by a function of the user's. */
export function hasOwnCast(type: SchemaType): boolean {
  const { _castFunction } = type as { _castFunction?: unknown };
  return _castFunction !== undefined || (type.options as { cast?: unknown }).cast !== undefined;
}

/** Members that schemas may have of themselves. */
const USUAL = new Set(["initializeTimestamps"]);

/** Methods of the framework. */
const ownMembers = new WeakSet<object>();

/** Marks a method of documents as the framework's own, which changes nothing that is stored or shown. */
export function markOwnMember(fn: object): void {
  ownMembers.add(fn);
}

/** Whether methods or statics of a schema stand in the place of Mongoose's own, or run with every new document. */
export function replacesMembers(schema: Schema): boolean {
  const { callQueue = [] } = schema as unknown as { callQueue?: readonly [string, unknown][] };
  const isOwn = (name: string) => ownMembers.has(schema.methods[name] as object);
  return callQueue.some(([name]) => !isOwn(name)) ||
    Object.keys(schema.methods).some((name) =>
      name in mongoose.Model.prototype && !USUAL.has(name) && !isOwn(name) &&
      !isLinearMethod(schema.methods[name])
    ) ||
    Object.keys(schema.statics).some((name) => name in mongoose.Model);
}

/** Whether a field can be set only once. */
export function isImmutable(type: SchemaType): boolean {
  return Boolean((type as { $immutable?: unknown }).$immutable);
}

/** Whether a function decides if a field is required. */
export function isRequiredAtTimes(type: SchemaType): boolean {
  const { originalRequiredValue } = type as { originalRequiredValue?: unknown };
  return typeof (originalRequiredValue ?? type.options.required) === "function";
}

/** Options of a text that are setters to Mongoose. */
const SETTING_OPTIONS = ["lowercase", "uppercase", "trim"];

/** Whether a field has setters of the user's. */
export function hasOwnSetters(type: SchemaType): boolean {
  const { setters } = type as { setters?: readonly unknown[] };
  const options = type.options as Record<string, unknown>;
  return (setters?.length ?? 0) > SETTING_OPTIONS.filter((name) => options[name]).length;
}

/** The stored values of a document, past getters and change tracking. */
export function rawValues(doc: Document): Record<string, unknown> {
  return (doc as unknown as { _doc: Record<string, unknown> })._doc;
}

/**
 * The changes of a document as an update, without defaults that it only shows; older versions of Mongoose name the
 * method otherwise.
 */
export function changesOf(doc: Document): Record<string, Record<string, unknown>> {
  dropShownDefaults(doc);
  const { $getChanges } = doc as unknown as { $getChanges?: () => object };
  return ($getChanges === undefined ? doc.getChanges() : $getChanges.call(doc)) as ReturnType<
    typeof changesOf
  >;
}

/** An update of the database, by operator and path. */
type Update = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Has a query write an update as it is, and cast only what middleware adds to it: its values come from documents, and a
 * second cast would run their setters twice.
 */
export function writeAsIs(query: object, update: Update): void {
  const casting = query as { _castUpdate(update: Update): Update | undefined };
  const cast = casting._castUpdate;
  casting._castUpdate = function (all) {
    const added = Object.entries(all).map(([operator, paths]) => [
      operator,
      Object.fromEntries(
        Object.entries(paths).filter(([path]) => !Object.hasOwn(update[operator] ?? {}, path)),
      ),
    ]);
    const result: Record<string, object> = { ...cast.call(this, Object.fromEntries(added)) };
    for (const [operator, paths] of Object.entries(update)) {
      result[operator] = { ...result[operator], ...paths };
    }
    return result as Update;
  };
}

/** The middleware of a document, under the name that every version of Mongoose gives it. */
interface Middleware {
  execPre(name: string, doc: Document, args: unknown[]): Promise<unknown>;
  execPost(name: string, doc: Document, args: unknown[], options?: object): Promise<unknown>;
}

/** Does what Mongoose's `save` does, but for the write: validation first, then the middleware around it. */
export async function saveBy(doc: Document, write: () => Promise<void>): Promise<void> {
  const { $__middleware: middleware } = doc as unknown as { $__middleware: Middleware };
  try {
    await doc.validate();
    await middleware.execPre("save", doc, [{}]);
    await write();
  } catch (error) {
    await middleware.execPost("save", doc, [doc], { error });
    throw error;
  }
  await middleware.execPost("save", doc, [doc]);
}

/** The fields in which Mongoose keeps when a document was created and changed; none where it keeps none. */
export function stampFields(
  schema: Schema,
): { readonly createdAt?: string | null; readonly updatedAt?: string | null } {
  const { $timestamps } = schema as { $timestamps?: ReturnType<typeof stampFields> };
  return $timestamps ?? {};
}

/** Middleware of the framework. */
const ownMiddleware = new WeakSet<object>();

/** Marks middleware as the framework's own, which changes nothing that users could see. */
export function markOwnMiddleware(fn: object): void {
  ownMiddleware.add(fn);
}

/** Whether a schema has middleware of the user's for one of several operations. */
export function hasMiddleware(schema: Schema, names: readonly string[]): boolean {
  const { hooks } = (schema as unknown as { s: { hooks: SchemaMiddleware } }).s;
  return names.some((name) =>
    [hooks._pres, hooks._posts].some((kind) =>
      kind.get(name)?.some(({ fn }) => !ownMiddleware.has(fn) && !isBuiltIn(fn)) === true
    )
  );
}

/** The middleware of a schema, by operation. */
interface SchemaMiddleware {
  readonly _pres: ReadonlyMap<string, readonly { readonly fn: object }[]>;
  readonly _posts: ReadonlyMap<string, readonly { readonly fn: object }[]>;
}

/** Casts a value to a type as a query does: the setters of the field, such as `lowercase`, run first. */
export function castForQuery(type: SchemaType, value: unknown): unknown {
  const { applySetters } = type as unknown as {
    applySetters(value: unknown, scope: null): unknown;
  };
  return applySetters.call(type, value, null);
}

/** The virtuals of a schema by name. */
export function virtualsOf(schema: Schema): Record<string, unknown> {
  return (schema as unknown as { virtuals: Record<string, unknown> }).virtuals;
}
