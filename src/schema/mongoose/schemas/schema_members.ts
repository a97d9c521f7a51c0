import mongoose from "mongoose";
import type { Document, Model, Schema, SchemaType } from "mongoose";
import { VALUES_KEY } from "../documents/document_values.ts";

const ownFunctions = new WeakSet<object>();

/**
 * The application's functions need Mongoose documents, which are slow. Mongrove marks its own functions, which need
 * none.
 */
export function markOwn<F extends object>(fn: F): F {
  ownFunctions.add(fn);
  return fn;
}

export function isOwn(fn: unknown): boolean {
  return typeof fn === "function" && ownFunctions.has(fn);
}

/** Own members of each document, which a field with such a name would replace. */
export const DOCUMENT_MEMBERS: readonly string[] = [
  ...Object.keys((mongoose.Schema as unknown as { reserved: object }).reserved),
  ...["schema", "isNew", "errors", "db", "discriminators", VALUES_KEY],
];

const COMPILED_MEMBERS: ReadonlySet<string> = new Set([
  ...["base", "collection", "db", "discriminators", "events", "modelName", "schema"],
]);

export function isModelMember(name: string): boolean {
  return COMPILED_MEMBERS.has(name) || name in mongoose.Model && !(name in Function.prototype);
}

export function virtualsOf(schema: Schema): Record<string, unknown> {
  return (schema as unknown as { virtuals: Record<string, unknown> }).virtuals;
}

interface PluginMark {
  "$connectionPluginsApplied"?: boolean;
}

/** Without the mark, Mongoose would apply the plugins to the clone again. */
export function copyPluginMark(schema: Schema, clone: Schema): void {
  const { $connectionPluginsApplied: mark } = schema as PluginMark;
  if (mark) (clone as PluginMark).$connectionPluginsApplied = mark;
}

const INNER_MEMBERS: ReadonlySet<string> = new Set([
  ...["collection", "db", "init", "schema", "get", "set", "toObject", "save", "validate"],
  ...["validateSync", "invalidate", "deleteOne", "updateOne", "isModified", "markModified"],
]);

export function isInnerMember(name: string): boolean {
  return INNER_MEMBERS.has(name) || name.startsWith("$");
}

/** A statement without Mongoose would not call a member that the application has replaced. */
export function refuseReplaced(schema: Schema): void {
  const method = Object.keys(schema.methods).find((name) =>
    isInnerMember(name) && !isOwn(schema.methods[name])
  );
  const member = method ?? Object.keys(schema.statics).find(isModelMember);
  if (member === undefined) return;
  const kind = method === undefined ? "model" : "document";
  throw new TypeError(
    `a method or plugin replaces "${member}" of the ${kind}, which does not bind all requests: ` +
      `give it another name, or use middleware, hooks or a scope`,
  );
}

/** A method of `schema.queue()` runs for each document that Mongoose makes, so statements would bypass it. */
export function callsMethods(schema: Schema): boolean {
  const { callQueue } = schema as unknown as { callQueue: readonly [string, unknown][] };
  return callQueue.some(([name]) => !isOwn(schema.methods[name]));
}

interface Middleware {
  readonly fn: object;
}

interface SchemaMiddleware {
  readonly _pres: ReadonlyMap<string, readonly Middleware[]>;
  readonly _posts: ReadonlyMap<string, readonly Middleware[]>;
}

interface DocumentMiddleware {
  execPre(name: string, doc: Document, args: unknown[]): Promise<unknown>;
  execPost(name: string, doc: Document, args: unknown[], options?: object): Promise<unknown>;
  filter(keeps: (each: Middleware) => boolean): DocumentMiddleware;
}

interface MiddlewareHolder {
  "$__middleware": DocumentMiddleware;
}

export function middlewareOf(doc: Document): DocumentMiddleware {
  return (doc as unknown as MiddlewareHolder).$__middleware;
}

const BUILT_IN = Symbol.for("mongoose:built-in-middleware");

export function hasMiddleware(schema: Schema, names: readonly string[]): boolean {
  return names.some((name) => middlewareFor(schema, name).length > 0);
}

function middlewareFor(schema: Schema, name: string): Middleware[] {
  const { hooks } = (schema as unknown as { s: { hooks: SchemaMiddleware } }).s;
  return [hooks._pres, hooks._posts].flatMap((kind) => kind.get(name) ?? [])
    .filter((each) => !isBuiltIn(each));
}

const UNSENT = [
  ...["updateMany", "deleteMany", "replaceOne"],
  ...["findOneAndUpdate", "findOneAndReplace", "findOneAndDelete"],
];

/**
 * Mongrove never sends these operations, so their middleware never runs. Middleware that is also for `find()` does,
 * because writes of several entities find them first.
 */
export function idleMiddleware(schema: Schema): string[] {
  const finding = new Set(middlewareFor(schema, "find").map(({ fn }) => fn));
  return UNSENT.filter((name) => middlewareFor(schema, name).some(({ fn }) => !finding.has(fn)));
}

/**
 * Middleware for `find` may change the found documents, and the operation `other` would skip it.
 */
export function findsByMiddleware(schema: unknown, other: "aggregate" | "countDocuments"): boolean {
  return hasMiddleware(schema as Schema, ["find"]) && !hasMiddleware(schema as Schema, [other]);
}

function isBuiltIn({ fn }: Middleware): boolean {
  return isOwn(fn) || BUILT_IN in fn;
}

/** A validation without a save would run the application's middleware. */
export function dropMiddleware(doc: Document): void {
  for (const each of [doc, ...doc.$getAllSubdocs()]) {
    (each as unknown as MiddlewareHolder).$__middleware = middlewareOf(each).filter(isBuiltIn);
  }
}

export function schemasWithin(schema: Schema, found: Set<Schema> = new Set()): ReadonlySet<Schema> {
  if (found.has(schema)) return found;
  found.add(schema);
  for (const type of Object.values(schema.paths).flatMap(typesWithin)) {
    const { schema: embedded } = type as { schema?: Schema };
    if (embedded !== undefined) schemasWithin(embedded, found);
  }
  return found;
}

export function typesWithin(type: SchemaType): SchemaType[] {
  const { embeddedSchemaType: element } = type as { embeddedSchemaType?: SchemaType };
  return element === undefined ? [type] : [type, ...typesWithin(element)];
}

export function runsNothingOwn(model: Model<unknown>, operations: readonly string[]): boolean {
  const { discriminators, schema } = model;
  return !discriminators &&
    [...schemasWithin(schema as Schema)].every((each) =>
      !(each as { discriminators?: unknown }).discriminators && !callsMethods(each) &&
      !hasMiddleware(each, operations)
    );
}

type StampFields = Readonly<Partial<Record<"createdAt" | "updatedAt", string | null>>>;

export function stampFields(schema: Schema): StampFields {
  const { $timestamps } = schema as { $timestamps?: StampFields };
  return $timestamps ?? {};
}
