import { Buffer } from "node:buffer";
import { assert, assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import fc from "fast-check";
import mongoose from "mongoose";
import {
  all,
  Framework,
  leaveOut,
  type ModelClass,
  one,
  onlyIf,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { openDatabase } from "../harness/database.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { asDocuments } from "../support/both_paths.ts";
import { type Case, cases, withoutMadeUp } from "../support/made/arbitrary_models.ts";
import { anything, objectIds, ownKeys, POOL } from "../support/made/arbitrary_values.ts";
import { makeModel } from "../support/made/made_model.ts";
import { start } from "../support/support.ts";

const RUNS = Number(Deno.env.get("FAST_CHECK_RUNS") ?? casesOf(24, 8));

interface GarbageCase extends Case {
  readonly names: readonly string[];
  readonly hides: readonly string[];
}

/** Values that many types can be cast from, alone and inside of other values. */
const castable = fc.oneof(
  fc.constantFrom<unknown>(0, 1, 7, -1.5, 1e20, true, false, "0", "1", "7", "true", "no", "", null),
  fc.constantFrom("2026-11-28", "2026-11-28T00:00:00Z", "86400000", POOL[0], NaN, 5n),
  fc.constant(new Date(5)),
  objectIds,
);
const garbage = fc.oneof(
  { weight: 4, arbitrary: castable },
  fc.array(castable, { maxLength: 2 }),
  fc.dictionary(fc.constantFrom("a", "b", "c", "10", "é", "_id", "a.b"), castable, { maxKeys: 3 })
    .map(ownKeys),
  anything,
);

/** Returns the fields that documents of reads have, which a hook without names gets. */
function readFields({ fields }: Case): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.options.select !== false);
}

const readable = cases.filter((given) => readFields(given).length > 0);

const garbled: fc.Arbitrary<GarbageCase> = readable.chain(({ fields, documents }) => {
  const known = readFields({ fields, documents });
  const changes = fc.dictionary(fc.constantFrom(...known), garbage, { maxKeys: 3 });
  return fc.record({
    fields: fc.constant(fields),
    documents: fc.tuple(...documents.map((each) => changes.map((odd) => ({ ...each, ...odd })))),
    names: fc.subarray(known, { minLength: 1 }),
    hides: fc.subarray(known, { minLength: 1 }),
  }).map((given) => ({
    ...given,
    [fc.toStringMethod]: () => Deno.inspect(given, { depth: 8 }),
  }));
});

type Values = Readonly<Record<string, unknown>>;

/** Writes values with their types, whether a document or an instance holds them. */
function written(value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number") return Object.is(value, -0) ? "0" : `${value}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof mongoose.Document) {
    const names = Object.keys(value.schema.paths);
    return written(Object.fromEntries(names.map((name) => [name, value.get(name)])));
  }
  if (value instanceof Date) return `date ${value.getTime()}`;
  if (value instanceof mongoose.mongo.Double) return written(value.valueOf());
  if (value instanceof mongoose.mongo.Binary) return `bytes ${value.toString("hex")}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return Array.from(value, written);
  // Hidden fields of instances are not enumerable.
  const entries: [unknown, unknown][] = value instanceof Map
    ? [...value]
    : Object.getOwnPropertyNames(value).map((name) => [name, Reflect.get(value, name)]);
  if ("_bsontype" in value) {
    return `${value._bsontype} ${mongoose.mongo.BSON.EJSON.stringify(value)}`;
  }
  const kept = entries.filter(([key, each]) =>
    each !== undefined && key !== "__v" && (key !== "_id" || POOL.includes(String(each)))
  );
  return kept.map(([key, each]) => [String(key), written(each)])
    .sort(([one], [other]) => String(one) < String(other) ? -1 : 1);
}

function told(entity: Values, names: readonly string[]): string {
  return JSON.stringify(names.map((name) => written(entity[name])));
}

function hash(text: string): number {
  return [...text].reduce((sum, each) => (sum * 31 + (each.codePointAt(0) ?? 0)) % 65_521, 7);
}

type Seen = Map<string, string>;

function declareRoutes(model: ModelClass, { names, hides }: GarbageCase, schemaOptions: object) {
  const seen: Record<string, Seen> = {};
  const passes = (route: string) => {
    const kept: Seen = seen[route] = new Map();
    return (entity: Values) => {
      const text = told(entity, names);
      kept.set(String(entity._id), text);
      return hash(text) % 4 !== 0;
    };
  };
  const hidesThem = (entity: Values) => hash(told(entity, names)) % 3 === 0;
  const declare = (route: string, given: object, guard: object) => {
    const methods = [
      all({ filter: ["_id"], ...given } as never),
      one({ filter: ["_id"], ...given } as never),
      update(guard as never),
      remove(guard as never),
    ];
    const context = { kind: "class", name: "Made", metadata: Reflect.get(model, Symbol.metadata) };
    rest({ route, methods, schemaOptions } as never)(
      model as never,
      { ...context, addInitializer: () => {} } as never,
    );
  };
  const isPlain = passes("/plain");
  const plain = { postFetch: (_req: unknown, each: Values) => isPlain(each) ? each : null };
  const without = (_req: unknown, each: { toJSON(): Values }) => {
    const json = each.toJSON();
    return hidesThem(each as never)
      ? Object.fromEntries(Object.entries(json).filter(([name]) => !hides.includes(name)))
      : json;
  };
  declare("/plain", { ...plain, preSend: without }, plain);
  for (const route of ["/named", "/documents"]) {
    const isPassed = passes(route);
    const postFetch = onlyIf(
      names as never,
      ((_req: unknown, fields: Values) => {
        assert(Object.isFrozen(fields));
        assert(Object.keys(fields).every((name) => name === "_id" || names.includes(name)));
        return isPassed(fields);
      }) as never,
    );
    const preSend = leaveOut(
      hides as never,
      names as never,
      ((_req: unknown, each: Values) => hidesThem(each)) as never,
    );
    const preFetch = route === "/documents" && { preFetch: asDocuments };
    declare(route, { postFetch, preSend, ...preFetch }, { postFetch, ...preFetch });
  }
  return seen;
}

async function answersOf(
  app: Awaited<ReturnType<typeof start>>,
  route: string,
  ids: readonly string[],
) {
  const list = await app.get(route);
  const ones: unknown[] = [];
  for (const id of ids) {
    const { status, text } = await app.get(`${route}/${id}`);
    ones.push([status, withoutMadeUp([JSON.parse(text)])]);
  }
  return { list: [list.status, withoutMadeUp(JSON.parse(list.text))], ones };
}

/** Serves a model, and compares the answers and the values of its routes. */
async function compareHooks(given: GarbageCase): Promise<void> {
  const collection = `garbage_${crypto.randomUUID()}`;
  const schemaOptions = { collection, autoCreate: false, autoIndex: false };
  const model = makeModel(given.fields, schemaOptions);
  const seen = declareRoutes(model, given, schemaOptions);
  const host = express();
  host.use(express.json());
  host.use(Framework.initialize({ models: [model] }));
  await using app = await start(host);
  const stored = mongoose.connection.collection(collection);
  const { insertedIds } = await stored.insertMany(given.documents.map((each) => ({ ...each })));
  const ids = Object.values(insertedIds).map(String);
  const plain = await answersOf(app, "/plain", ids);
  for (const route of ["/named", "/documents"]) {
    const answers = await answersOf(app, route, ids);
    assertEquals(seen[route], seen["/plain"], route);
    assertEquals(answers, plain, route);
  }
  for (const id of ids) {
    const isHidden = (await app.patch(`/plain/${id}`, {})).status === 404;
    assertEquals((await app.patch(`/named/${id}`, {})).status === 404, isHidden);
    if (isHidden) assertEquals((await app.delete(`/named/${id}`)).status, 404);
  }
  await stored.drop();
}

test("a hook with names gets the values that a hook on documents gets, whatever is stored", async () => {
  await using _database = await openDatabase();
  await fc.assert(fc.asyncProperty(garbled, compareHooks), { numRuns: RUNS });
});
