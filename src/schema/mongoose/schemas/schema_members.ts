import mongoose from "mongoose";
import type { Document, Model, Schema, SchemaType } from "mongoose";
import { VALUES_KEY } from "../documents/document_values.ts";

const ownFunctions = new WeakSet<object>();

/** Marks a method, a middleware or a transform as the framework's own: it changes nothing that users could see. */
export function markOwn<F extends object>(fn: F): F {
  ownFunctions.add(fn);
  return fn;
}

export function isOwn(fn: unknown): boolean {
  return typeof fn === "function" && ownFunctions.has(fn);
}

/** The members of every document, besides those of its prototype. */
export const DOCUMENT_MEMBERS: readonly string[] = [
  ...Object.keys((mongoose.Schema as unknown as { reserved: object }).reserved),
  ...["schema", "isNew", "errors", "db", "discriminators", VALUES_KEY],
];

export function virtualsOf(schema: Schema): Record<string, unknown> {
  return (schema as unknown as { virtuals: Record<string, unknown> }).virtuals;
}

interface PluginMark {
  "$connectionPluginsApplied"?: boolean;
}

/** Marks a clone of a schema as one that has the plugins of its connection: Mongoose would apply them again. */
export function copyPluginMark(schema: Schema, clone: Schema): void {
  const { $connectionPluginsApplied: mark } = schema as PluginMark;
  if (mark) (clone as PluginMark).$connectionPluginsApplied = mark;
}

/** Whether methods or statics of a schema replace Mongoose's own, or run for every new document. */
export function replacesMembers(schema: Schema): boolean {
  const { callQueue } = schema as unknown as { callQueue: readonly [string, unknown][] };
  const isUsers = (name: string) => !isOwn(schema.methods[name]);
  return callQueue.some(([name]) => isUsers(name)) ||
    Object.keys(schema.methods).some((name) =>
      // Schemas with timestamps have it of themselves.
      name in mongoose.Model.prototype && name !== "initializeTimestamps" && isUsers(name)
    ) ||
    Object.keys(schema.statics).some((name) => name in mongoose.Model);
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
  const { hooks } = (schema as unknown as { s: { hooks: SchemaMiddleware } }).s;
  return names.some((name) =>
    [hooks._pres, hooks._posts].some((kind) =>
      kind.get(name)?.some((each) => !isBuiltIn(each)) === true
    )
  );
}

/** Whether middleware of the user's may change what is found, and nothing does so for aggregations. */
export function findsByMiddleware(schema: Schema): boolean {
  return hasMiddleware(schema, ["find"]) && !hasMiddleware(schema, ["aggregate"]);
}

function isBuiltIn({ fn }: Middleware): boolean {
  return isOwn(fn) || BUILT_IN in fn;
}

/** Takes the user's middleware from a document that will not be saved, and from all that it embeds. */
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

/** Whether nothing of the user's runs with some operations: on a model, on its kinds, or on what it embeds. */
export function runsNothingOwn(model: Model<unknown>, operations: readonly string[]): boolean {
  const { discriminators, schema } = model;
  return !discriminators &&
    [...schemasWithin(schema as Schema)].every((each) =>
      !(each as { discriminators?: unknown }).discriminators && !replacesMembers(each) &&
      !hasMiddleware(each, operations)
    );
}

type StampFields = Readonly<Partial<Record<"createdAt" | "updatedAt", string | null>>>;

/** The fields in which Mongoose keeps when a document was created and changed; none where it keeps none. */
export function stampFields(schema: Schema): StampFields {
  const { $timestamps } = schema as { $timestamps?: StampFields };
  return $timestamps ?? {};
}
