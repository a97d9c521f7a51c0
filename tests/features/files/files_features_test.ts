import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  one,
  onlyIf,
  prop,
  type ReadOnly,
  remove,
  removeAll,
  replace,
  rest,
  StoredFile,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import type { ErrorBody } from "../../support/support.ts";
import { fileAt, inHours, outcome, storedCounts } from "./shelf.ts";
import { onlyStrict } from "../../support/only_strict.ts";

@rest({
  route: "/cases",
  methods: [
    all(),
    one({ postFetch: onlyIf(["open"], (_req, each) => each.open) }),
    create(),
    update(),
    remove(),
    removeAll(),
  ],
  history: true,
  trash: { keep: "1d", see: () => true },
  tenant: "company",
})
class Case extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  company?: string;
  @prop({ default: true })
  open!: boolean;
  @prop({ stamp: "updatedBy" })
  by?: ReadOnly<string>;
  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 1000 })
  scan?: StoredFile;
}

@rest({ route: "/notes", methods: [all(), one(), create(), remove()], tenant: false })
class Note extends FrameworkModel {
  @prop({ ref: Case, onDelete: { cascade: "forGood" } })
  about?: string;
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 1000, apart: true })
  sheet?: StoredFile;
}

async function serveCases() {
  const app = await mountOnReplicaSet([Case, Note], {
    actor: () => "ann",
    tenant: (req) => String(req.headers["x-company"] ?? "one"),
    tidy: false,
  });
  const { _id } = await app.created("/cases", { name: "a" });
  const path = `/cases/${_id}`;
  return {
    app,
    _id,
    path,
    scan: fileAt(`${app.url}${path}/scan`),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test("a file is in the records of its entity, and stays as it is at a revert", async () => {
  await using served = await serveCases();
  const { app, path, scan } = served;
  assertEquals(await outcome(scan.put("one", { "content-type": "a/one" })), [201]);
  await app.updated(path, { name: "b" });
  assertEquals(await outcome(scan.put("two", { "content-type": "a/two" })), [200]);
  const records = await app.read<{ operation: string; changed: string[]; before: Case }[]>(
    `${path}/history`,
  );
  assertEquals(records.map(({ operation, changed }) => [operation, changed[0]]), [
    ["scan.replace", "scan"],
    ["update", "name"],
    ["scan.replace", "scan"],
    ["create", undefined],
  ]);
  const { at: _at, sha256: _sha256, ...before } = records[0]?.before.scan ?? {};
  assertEquals(before, { name: "scan", type: "a/one", size: 3 });
  const reverted = await app.post<Case>(`${path}/revert`, { version: 0 });
  assertEquals([reverted.status, reverted.body.name, reverted.body.scan?.type], [
    200,
    "a",
    "a/two",
  ]);
  assertEquals(await (await scan.get()).text(), "two");
  assertEquals((await app.read(path)).by, "ann");
});

test("a file in the trash is not reached, comes back, and goes when its entity goes for good", async () => {
  await using served = await serveCases();
  const { app, path, scan } = served;
  assertEquals(await outcome(scan.put("one")), [201]);
  assertEquals((await app.delete(path)).status, 204);
  for (const answer of [scan.get(), scan.put("x"), scan.remove()]) {
    assertEquals(await outcome(answer), [404, "NOT_FOUND"]);
  }
  assertEquals(await storedCounts(), { files: 1, chunks: 1 });
  assertEquals((await app.post(`${path}/restore`)).status, 200);
  assertEquals(await (await scan.get()).text(), "one");
  assertEquals((await app.delete("/cases")).status, 204);
  assertEquals(await storedCounts(), { files: 1, chunks: 1 });
  assertEquals(await Framework.tidy({ at: inHours(23) }), { removed: {} });
  const { removed } = await Framework.tidy({ at: inHours(72) });
  assertEquals(removed, { Case: 2 });
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
});

test("a removal from the trash and a cascade remove files", async () => {
  await using served = await serveCases();
  const { app, _id, path, scan } = served;
  assertEquals(await outcome(scan.put("one")), [201]);
  const note = await app.created("/notes", { about: _id });
  const sheet = fileAt(`${app.url}/notes/${note._id}/sheet`);
  assertEquals(await outcome(sheet.put("sheet")), [201]);
  assertEquals("sheet" in await app.read(`/notes/${note._id}`), false);
  assertEquals(await (await sheet.get()).text(), "sheet");
  assertEquals((await app.delete(path)).status, 204);
  assertEquals(await outcome(sheet.get()), [404, "NOT_FOUND"]);
  assertEquals((await app.delete(`${path}?trash=only`)).status, 204);
  assertEquals(await storedCounts(), { files: 1, chunks: 1 });
  assertEquals(await Framework.tidy(), { removed: { Note: 1 } });
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
});

test("tenants and guards with names bind files", async () => {
  await using served = await serveCases();
  const { app, path, scan } = served;
  assertEquals(await outcome(scan.put("one")), [201]);
  const other = fileAt(`${app.url}${path}/scan`, { "x-company": "two" });
  for (const answer of [other.get(), other.put("x"), other.remove()]) {
    assertEquals(await outcome(answer), [404, "NOT_FOUND"]);
  }
  await app.updated(path, { open: false });
  for (const answer of [scan.get(), scan.put("x"), scan.remove()]) {
    assertEquals(await outcome(answer), [404, "NOT_FOUND"]);
  }
  assertEquals(await storedCounts(), { files: 1, chunks: 1 });
});

class Attachment extends FrameworkModel {
  @prop()
  title?: string;
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 1000 })
  file?: StoredFile;
}

@rest({ route: "/mails", methods: [one(), create(), update(), replace()], history: true })
class Mail extends FrameworkModel {
  @rest({ methods: [one(), update()] })
  @arrayProp({ items: Attachment, embedded: true })
  attachments!: Attachment[];
  @rest({ methods: [one(), create(), remove()] })
  @prop({ type: Attachment })
  main?: Attachment;
}

interface MailBody {
  readonly _id: string;
  readonly attachments: { _id: string; title?: string; file?: { size: number } }[];
  readonly main?: { title?: string; file?: { size: number } };
}

type File = ReturnType<typeof fileAt>;

async function serveMails() {
  const app = await mountOnReplicaSet([Mail], { strict: onlyStrict("bodies"), tidy: false });
  const titles = [{ title: "a" }, { title: "b" }];
  const { _id, attachments } = await app.created<MailBody>("/mails", {
    attachments: titles,
    main: { title: "m" },
  });
  const path = `/mails/${_id}`;
  const places = [...attachments.map((each) => `attachments/${each._id}`), "main"];
  const files = places.map((place) => fileAt(`${app.url}${path}/${place}/file`));
  for (const { put } of files) assertEquals(await outcome(put("123")), [201]);
  const [first, second, main] = files as [File, File, File];
  return {
    app,
    path,
    first,
    second,
    main,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const sizes = ({ attachments, main }: MailBody) =>
  [...attachments, main ?? {}].map((each) => each.file?.size);

test("a part that a revert brings back has no file, and the parts that stayed keep theirs", async () => {
  await using served = await serveMails();
  const { app, path, first: gone, second: kept } = served;
  const { attachments: [first, second] } = await app.read<MailBody>(path);
  await app.updated(path, { attachments: [{ _id: second?._id, title: "c" }] });
  assertEquals((await storedCounts()).files, 2);
  const reverted = await app.post<MailBody>(`${path}/revert`, { version: 3 });
  assertEquals(reverted.status, 200);
  assertEquals(reverted.body.attachments.map((each) => [each._id, each.title]), [
    [first?._id, "a"],
    [second?._id, "b"],
  ]);
  assertEquals(sizes(reverted.body), [undefined, 3, 3]);
  assertEquals(await outcome(gone.get()), [404, "NOT_FOUND"]);
  assertEquals(await (await kept.get()).text(), "123");
});

test("a client can send back what it has read, and cannot change a file by it", async () => {
  await using served = await serveMails();
  const { app, path } = served;
  const read = await app.read<MailBody>(path);
  assertEquals((await app.patch(path, read)).status, 200);
  assertEquals((await app.put(path, await app.read(path))).status, 200);
  assertEquals(sizes(await app.read<MailBody>(path)), [3, 3, 3]);
  const other = { ...read.main, file: { ...read.main?.file, size: 4 } };
  const { status, body } = await app.patch<ErrorBody>(path, { main: other });
  assertEquals([status, Object.values(body.errors ?? {})[0]?.kind], [400, "readonly"]);
  assertEquals((await storedCounts()).files, 3);
});

test("an embedded object that is cleared takes its file with it", async () => {
  await using served = await serveMails();
  const { app, path, main: file } = served;
  assertEquals((await app.delete(`${path}/main`)).status, 204);
  assertEquals(sizes(await app.read<MailBody>(path)), [3, 3, undefined]);
  assertEquals((await storedCounts()).files, 2);
  assertEquals((await app.post(`${path}/main`, { title: "n" })).status, 201);
  assertEquals(await outcome(file.put("12345")), [201]);
  await app.updated(path, { main: null });
  const { main } = await app.read<MailBody>(path);
  assertEquals(main, undefined);
  assertEquals((await storedCounts()).files, 2);
});

test("a batch takes no files, and removes those of entities that it removes", async () => {
  await using app = await mountOnReplicaSet([Note, Case], {
    batch: { path: "/batch" },
    tenant: () => "one",
    actor: () => "ann",
    tidy: false,
  });
  const { _id } = await app.created("/notes", {});
  const sheet = fileAt(`${app.url}/notes/${_id}/sheet`);
  assertEquals(await outcome(sheet.put("text", { "content-type": "application/x" })), [201]);
  const send = async (method: string, path: string) => {
    const body = method === "PUT" ? { body: {} } : {};
    const { status } = await app.post("/batch", { requests: [{ id: "a", method, path, ...body }] });
    return status;
  };
  assertEquals(await send("GET", `/notes/${_id}/sheet`), 400);
  assertEquals(await send("PUT", `/notes/${_id}/sheet`), 400);
  assertEquals(await (await sheet.get()).text(), "text");
  assertEquals(await send("DELETE", `/notes/${_id}`), 200);
  assertEquals(await outcome(sheet.get()), [404, "NOT_FOUND"]);
  assertEquals(await Framework.tidy(), { removed: { Note: 1 } });
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
});

class Sheet extends FrameworkModel {
  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 1000 })
  file?: StoredFile;
  @prop({ stamp: "createdBy" })
  readonly madeBy?: ReadOnly<string>;
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: ReadOnly<string>;
}

@rest({ route: "/folders", methods: [one(), create(), update()] })
class Folder extends FrameworkModel {
  @rest({ methods: [all(), one()] })
  @arrayProp({ items: Sheet, embedded: true, apart: false })
  sheets!: Sheet[];
  // A condition that one statement cannot check, so the write reads its folder.
  @rest({ methods: [one(), update()], scope: () => ({ $expr: { $ne: ["$madeBy", "eve"] } }) })
  @prop({ type: Sheet, apart: false })
  cover?: Sheet;
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: ReadOnly<string>;
}

test("the file of an embedded part has its stamps in the part", async () => {
  await using app = await mountOnReplicaSet([Folder], {
    actor: (req) => req.headers["x-user"] as string | undefined,
  });
  const as = (user: string) => ({ "x-user": user });
  const ann = { headers: as("ann") };
  const made = await app.created<{ _id: string; sheets: { _id: string }[] }>(
    "/folders",
    { sheets: [{}, {}], cover: {} },
    ann,
  );
  const path = `/folders/${made._id}`;
  const stampsNow = async () => {
    const { body } = await app.get<Folder>(path);
    return [body, ...body.sheets, body.cover].map((each) => each?.changedBy);
  };
  const file = fileAt(`${app.url}${path}/sheets/${made.sheets[0]?._id}/file`);
  assertEquals(await outcome(file.put("a", as("bob"))), [201]);
  assertEquals(await stampsNow(), ["bob", "bob", "ann", "ann"]);
  assertEquals(await outcome(file.remove(as("cat"))), [204]);
  assertEquals(await stampsNow(), ["cat", "cat", "ann", "ann"]);
  const cover = fileAt(`${app.url}${path}/cover/file`);
  assertEquals(await outcome(cover.put("a")), [201]);
  assertEquals(await stampsNow(), [undefined, "cat", "ann", undefined]);
  assertEquals(await outcome(cover.remove(as("dan"))), [204]);
  assertEquals(await stampsNow(), ["dan", "cat", "ann", "dan"]);
});
