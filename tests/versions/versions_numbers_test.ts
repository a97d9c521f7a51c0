import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import {
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  prop,
  rest,
} from "../../mod.ts";
import { one, type Ref, remove, update } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import type { Client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const { Double, Int32, Long } = mongoose.mongo;

/** The connection of all requests. */
let connection: Connection;
const getConnection = () => connection;
const PLAIN = [one(), update(), remove()];
const HOOKED = [one({ preSend: pass }), update({ preSave: pass }), remove({ preSave: pass })];
const lean = (req: FrameworkRequest) => {
  req.framework.options.lean = true;
  return true;
};

@rest({ route: "/stones", getConnection, methods: PLAIN })
class Stone extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/plain", getConnection, methods: PLAIN })
@rest({ route: "/hooked", getConnection, methods: HOOKED })
@rest({
  route: "/lean",
  getConnection,
  methods: [one({ preFetch: lean, preSend: pass }), update(), remove()],
})
class Wall extends Stone {
  @rest({ methods: PLAIN })
  @arrayProp({ items: Stone, embedded: true })
  parts?: Stone[];
  @rest({ methods: PLAIN })
  @arrayProp({ items: Stone })
  stones?: Ref<Stone>[];
}

function ifMatch(tag: string | null) {
  return { headers: { "if-match": tag ?? "" } };
}

/** Stores a wall, and gives the paths to all that has the version. */
async function store(__v: unknown): Promise<string[]> {
  const [_id, part] = [new mongoose.Types.ObjectId(), new mongoose.Types.ObjectId()];
  const stored = { _id, __v, parts: [{ _id: part }], stones: [_id] };
  await getModel(Wall).collection.insertOne(stored as never);
  await getModel(Stone).collection.insertOne({ _id, __v } as never);
  return [`/hooked/${_id}`, `/lean/${_id}`, `/plain/${_id}/parts/${part}`]
    .concat([`/plain/${_id}/stones/${_id}`, `/plain/${_id}`]);
}

async function checkTags(app: Client, path: string, what: string): Promise<void> {
  const tag = async () => (await app.get(path)).headers.get("etag");
  const old = await tag();
  assertEquals(old?.split(".")[0], `"7`, what);
  assertEquals((await app.patch(path, { text: "a" }, ifMatch(`"none"`))).status, 412, what);
  assertEquals((await app.delete(path, ifMatch(`"none"`))).status, 412, what);
  assertEquals((await app.patch(path, { text: "b" }, ifMatch(old))).status, 200, what);
  assertEquals((await app.patch(path, { text: "c" }, ifMatch(old))).status, 412, what);
  assertEquals((await app.delete(path, ifMatch(old))).status, 412, what);
  assertEquals((await app.read(path)).text, "b", what);
  assertEquals((await app.delete(path, ifMatch(await tag()))).status, 204, what);
  assertEquals((await app.get(path)).status, 404, what);
}

test("versions hold whatever a connection makes of numbers", async () => {
  await using app = await mount([Wall, Stone]);
  const versions = [new Int32(7), new Double(7), Long.fromNumber(7)];
  for (
    const [options, given] of [
      ...[{}, { promoteValues: false }, { promoteLongs: false }].map((each) => [each, versions]),
      [{ useBigInt64: true }, versions.slice(0, 2)],
    ] as [object, typeof versions][]
  ) {
    connection = await mongoose.createConnection(app.database.uri, options).asPromise();
    for (const version of given) {
      for (const place of (await store(version)).keys()) {
        const path = (await store(version))[place] as string;
        await checkTags(app, path, `${JSON.stringify(options)} ${version._bsontype} ${path}`);
      }
    }
    await connection.close();
  }
});

test("a removal says what it has met whatever a connection makes of numbers", async () => {
  await using app = await mount([Wall, Stone]);
  connection = await mongoose.createConnection(app.database.uri, { promoteValues: false })
    .asPromise();
  for (const place of (await store(7)).keys()) {
    const path = (await store(7))[place] as string;
    const late = await Promise.all([1, 2, 3].map(() => app.delete(path, ifMatch("*"))));
    const statuses = late.map(({ status }) => status === 412 ? 404 : status).sort();
    assertEquals(statuses, [204, 404, 404], path);
  }
  await connection.close();
});
