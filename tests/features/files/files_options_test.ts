import { assertEquals } from "@std/assert";
import mongoose, { type Connection } from "mongoose";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  StoredFile,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { fileAt, inHours, outcome, storedCounts } from "./shelf.ts";

@rest({
  route: "/forms",
  methods: [
    all({ select: ["name", "scan"] }),
    one({ select: ["name", "scan"] }),
    create(),
    removeAll(),
  ],
  getConnection: () => {
    const connection = connections.at(-1) as Connection;
    return isFresh ? connection.useDb(connection.name) : connection;
  },
})
class Form extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [one(), replace(), remove()], ifMatch: true })
  @prop({ type: StoredFile, maxBytes: 1000 })
  scan?: StoredFile;
  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 1000, select: false })
  draft?: StoredFile;
}

/** The connections of the entities. The last one serves the requests. */
const connections: Connection[] = [];
/** Whether each request gets another connection to the same database. */
let isFresh = false;

async function serveForm() {
  connections.splice(0, Infinity, mongoose.connection);
  const app = await mount([Form], { tidy: false });
  const { _id } = await app.created("/forms", { name: "a" });
  const path = `/forms/${_id}`;
  return {
    app,
    path,
    scan: fileAt(`${app.url}${path}/scan`),
    draft: fileAt(`${app.url}${path}/draft`),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test("the parameter select shows and leaves out the descriptions of files", async () => {
  await using served = await serveForm();
  const { app, path, scan } = served;
  assertEquals(await outcome(scan.put("abc", { "if-match": "*" })), [201]);
  const namesOf = (shown: object) => Object.keys(shown).sort();
  for (const list of ["/forms?select=", `${path}?select=`]) {
    const read = async (names: string) => [await app.read<object>(`${list}${names}`)].flat()[0];
    assertEquals(namesOf(await read("name") ?? {}), ["_id", "name"]);
    const shown = await read("scan") as { scan: object };
    assertEquals(namesOf(shown), ["_id", "scan"]);
    assertEquals(namesOf(shown.scan), ["at", "name", "sha256", "size", "type"]);
  }
});

test("a file with select: false is in answers that ask for it only, and is sent by its route", async () => {
  await using served = await serveForm();
  const { app, path, draft } = served;
  assertEquals(await outcome(draft.put("abc")), [201]);
  assertEquals("draft" in await app.read(path), false);
  assertEquals(await (await draft.get()).text(), "abc");
  assertEquals(await outcome(draft.put("abcd")), [200]);
  assertEquals(await (await draft.get()).text(), "abcd");
  assertEquals(await storedCounts(), { files: 1, chunks: 1 });
  assertEquals(await outcome(draft.remove()), [204]);
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
});

test('ifMatch: "required" binds the removal of a file', async () => {
  await using served = await serveForm();
  const { app, path, scan } = served;
  assertEquals(await outcome(scan.put("abc", { "if-match": "*" })), [201]);
  assertEquals(await outcome(scan.remove()), [428, "PRECONDITION_REQUIRED"]);
  const stale = '"0.0123456789abcdef"';
  assertEquals(await outcome(scan.remove({ "if-match": stale })), [412, "PRECONDITION_FAILED"]);
  assertEquals(await (await scan.get()).text(), "abc");
  const tag = String((await app.get(path)).headers.get("etag"));
  assertEquals(await outcome(scan.remove({ "if-match": tag })), [204]);
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
});

test("a file is stored in the database of its entity, which getConnection chooses", async () => {
  await using served = await serveForm();
  const { app } = served;
  const other = mongoose.connection.useDb(`${mongoose.connection.name}_other`);
  connections.push(other);
  const count = (name: string) => other.collection(`mongrove_files.${name}`).countDocuments();
  try {
    const { _id } = await app.created("/forms", { name: "b" });
    const draft = fileAt(`${app.url}/forms/${_id}/draft`);
    assertEquals(await outcome(draft.put("abc")), [201]);
    assertEquals(await (await draft.get()).text(), "abc");
    assertEquals(await outcome(draft.put("abcd")), [200]);
    assertEquals([await count("files"), await count("chunks")], [1, 1]);
    assertEquals(await storedCounts(), { files: 0, chunks: 0 });
    // Housekeeping reads the default connection, and must not take the file for one without an entity.
    await Framework.tidy({ at: inHours(48) });
    assertEquals(await (await draft.get()).text(), "abcd");
    assertEquals((await app.delete("/forms")).status, 204);
    assertEquals([await count("files"), await count("chunks")], [0, 0]);
  } finally {
    await other.dropDatabase();
  }
});

test("an upload is stored if getConnection returns another connection to the same database", async () => {
  await using served = await serveForm();
  const { scan } = served;
  isFresh = true;
  try {
    assertEquals(await outcome(scan.put("abc", { "if-match": "*" })), [201]);
    assertEquals(await outcome(scan.put("abcd", { "if-match": "*" })), [200]);
    assertEquals(await (await scan.get()).text(), "abcd");
    assertEquals(await storedCounts(), { files: 1, chunks: 1 });
  } finally {
    isFresh = false;
  }
});
