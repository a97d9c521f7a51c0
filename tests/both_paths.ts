import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { all, arrayProp, create, Framework, FrameworkModel, one, prop, rest } from "../mod.ts";
import type { ModelClass } from "../mod.ts";
import { request } from "./harness/request.ts";
import { serve } from "./harness/serve.ts";

/** Passes an entity on: a hook that asks for documents. */
export function pass<E extends object>(_req: unknown, entity: E): E {
  return entity;
}

/** Operations that read without documents, below `/fast`, and with them, below `/slow`. */
export const FAST = { route: "/fast", methods: [all(), one(), create()] };
export const SLOW = { route: "/slow", methods: [all({ preSend: pass }), one({ preSend: pass })] };

/** A declaration of a field: `array` tells {@linkcode arrayProp} from {@linkcode prop}. */
export interface FieldGiven {
  readonly array: boolean;
  readonly options: Record<string, unknown>;
}

/** Makes a model class whose fields are known at run time only, on both routes or on none. */
export function makeModel(
  fields: Record<string, FieldGiven>,
  schemaOptions: Record<string, unknown>,
  served: boolean,
): ModelClass {
  class Made extends FrameworkModel {}
  const metadata = {};
  for (const [name, { array, options }] of Object.entries(fields)) {
    const context = { kind: "field", name, static: false, private: false, metadata };
    (array ? arrayProp(options as never) : prop(options as never))(undefined, context as never);
  }
  Object.defineProperty(Made, Symbol.metadata, { value: metadata });
  Object.assign(Made, { schemaOptions });
  const context = { kind: "class", name: "Made", metadata, addInitializer: () => {} };
  for (const given of served ? [FAST, SLOW] : []) {
    rest({ ...given, schemaOptions })(Made as never, context as never);
  }
  return Made;
}

/** Serves models with a body limit that lets large documents in. */
export async function serveModels(models: readonly ModelClass[]) {
  const app = express();
  app.use(express.json({ limit: "64mb" }));
  app.use(Framework.initialize({ models }));
  return await serve(app);
}

/** A document as an answer shows it. */
export type Shown = Record<string, unknown>;

/** Reads the list by both paths, holds them against each other, and gives it. */
export async function readBoth(url: string, query = ""): Promise<Shown[]> {
  const fast = await request<Shown[]>(`${url}/fast${query}`);
  const slow = await request<Shown[]>(`${url}/slow${query}`);
  assertEquals([fast.status, slow.status], [200, 200], `${fast.text}\n${slow.text}`);
  assertEquals(fast.body, slow.body);
  for (const { _id } of fast.body.slice(0, 3)) {
    const single = await Promise.all(
      ["fast", "slow"].map((path) => request<Shown>(`${url}/${path}/${_id}${query}`)),
    );
    const found = fast.body.find((each) => each._id === _id);
    assertEquals(single.map(({ body }) => body), [found, found]);
  }
  return fast.body;
}

/** The driver's collection of a model, past Mongoose. */
export function stored(name: string): mongoose.mongo.Collection {
  return mongoose.connection.collection(name) as never;
}

/** Stores documents byte by byte, those that no driver would write included. */
export async function insertRaw(
  uri: string,
  collection: string,
  documents: readonly Uint8Array[],
): Promise<void> {
  const { hostname, port, pathname } = new URL(uri);
  const array = bsonOf(documents.map((each, index) => [0x03, String(index), each]));
  const body = bsonOf([
    [0x02, "insert", textOf(collection)],
    [0x04, "documents", array],
    [0x02, "$db", textOf(pathname.slice(1))],
  ]);
  const head = Buffer.alloc(21);
  head.writeInt32LE(21 + body.length);
  head.writeInt32LE(2013, 12);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  try {
    const message = Buffer.concat([head, body]);
    for (let sent = 0; sent < message.length;) sent += await socket.write(message.subarray(sent));
    const answer = Buffer.alloc(4096);
    const size = await socket.read(answer) ?? 0;
    const { n } = mongoose.mongo.BSON.deserialize(answer.subarray(21, size));
    assertEquals(n, documents.length);
  } finally {
    socket.close();
  }
}

/** A BSON document of elements: their types, names and values. */
export function bsonOf(
  elements: readonly (readonly [number, string | Uint8Array, Uint8Array])[],
): Buffer {
  const parts = elements.flatMap(([type, name, value]) => [
    Buffer.from([type]),
    Buffer.from(name as string),
    Buffer.from([0]),
    value,
  ]);
  const inner = Buffer.concat(parts);
  const head = Buffer.alloc(4);
  head.writeInt32LE(inner.length + 5);
  return Buffer.concat([head, inner, Buffer.from([0])]);
}

/** A BSON string. */
export function textOf(text: string | Uint8Array): Buffer {
  const bytes = Buffer.from(text as string);
  const head = Buffer.alloc(4);
  head.writeInt32LE(bytes.length + 1);
  return Buffer.concat([head, bytes, Buffer.from([0])]);
}

/** A command that went to the database. */
export interface SentCommand {
  /** Its name. */
  readonly name: string;
  /** Its body. */
  readonly command: Record<string, unknown>;
}

/** Connects anew, and gives the list to which every command is added from then on. */
export async function watchCommands(uri: string): Promise<SentCommand[]> {
  const sent: SentCommand[] = [];
  await mongoose.disconnect();
  await mongoose.connect(uri, { monitorCommands: true });
  mongoose.connection.getClient().on("commandStarted", ({ commandName: name, command }) => {
    if (!["endSessions", "ping", "createIndexes", "create"].includes(name)) {
      sent.push({ name, command });
    }
  });
  return sent;
}
