import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { FrameworkModel, getModel, one, prop, type Ref, remove, rest, update } from "../../mod.ts";
import { arrayProp, type FrameworkRequest } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

const HOOKED = [one({ postFetch: pass }), update({ preSave: pass }), remove({ preSave: pass })];

class Leaf extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: SIX })
  @arrayProp({ items: () => Leaf, embedded: true })
  leaves?: Leaf[];
}

/** Reads a tree without its version. */
function found({ params }: FrameworkRequest) {
  return getModel(Tree).findById(params.id).select("text");
}

@rest({ route: "/trees", methods: SIX })
@rest({ route: "/hooked", methods: HOOKED })
@rest({ route: "/found", methods: [update({ fetch: found }), remove({ fetch: found })] })
class Tree extends Leaf {
  @rest({ methods: SIX })
  @arrayProp({ items: Leaf })
  others?: Ref<Leaf>[];
}

@rest({ route: "/uncounted", methods: SIX })
@rest({ route: "/uncounted-hooked", methods: HOOKED })
class Uncounted extends Leaf {
  static override schemaOptions = { versionKey: false as const };
}

function ifMatch(tag: string | null) {
  return { headers: { "if-match": tag ?? "" } };
}

const MALFORMED = [
  ...[`"a"0"b"`, `"0.x"y`, `y"0.x"`, `"0.x" "1.x"`, `"0.x","`, `"0.x",*`, `*,"0.x"`, `w/"0.x"`],
  ...[`"0.x"; "1.x"`, `"0.x`, `0.x"`, `'0.x'`, `"-0"`, `"+0"`, `"0x"`, `"0 "`, `" 0"`, `"0.a b"`],
  ...[`"00"`, `"00.x"`, `W/"000000000000000"`],
];

test("an If-Match that is no list of tags matches nothing", async () => {
  await using app = await mount([Tree]);
  const { _id } = await app.created("/trees", {});
  for (const path of [`/trees/${_id}`, `/hooked/${_id}`]) {
    for (const malformed of MALFORMED) {
      const { status } = await app.patch(path, { text: "x" }, ifMatch(malformed));
      assertEquals(status, 412, malformed);
      assertEquals((await app.delete(path, ifMatch(malformed))).status, 412, malformed);
    }
  }
  const list = `,"x",  W/"7.b" , ,"0.x",`;
  assertEquals((await app.patch(`/trees/${_id}`, {}, ifMatch(list))).status, 200);
});

test("a tag matches neither a list nor what is to be created", async () => {
  await using app = await mount([Tree]);
  const { _id } = await app.created("/trees", { leaves: [{}] });
  const lists = ["/trees", `/trees/${_id}/leaves`, `/trees/${_id}/others`];
  for (const path of lists) {
    const { headers } = await app.get(path);
    for (const tag of [`"0.x"`, "", headers.get("etag")]) {
      assertEquals((await app.delete(path, ifMatch(tag))).status, 412, path);
      assertEquals((await app.post(path, {}, ifMatch(tag))).status, 412, path);
    }
    assertEquals((await app.get(path)).headers.get("etag"), headers.get("etag"), path);
  }
  for (const path of lists.reverse()) {
    assertEquals((await app.post(path, {}, ifMatch("*"))).status, 201, path);
    assertEquals((await app.delete(path, ifMatch("*"))).status, 204, path);
  }
});

test("without a versionKey no tag matches, as nothing tells what has changed", async () => {
  await using app = await mount([Uncounted]);
  for (const route of ["/uncounted", "/uncounted-hooked", "/uncounted/leaves"]) {
    const made = await app.created("/uncounted", { leaves: [{}] });
    const [leaf] = made.leaves as { _id: string }[];
    const [, first, ...below] = route.split("/");
    const path = [`/${first}/${made._id}`, ...below, ...below.map(() => leaf?._id)].join("/");
    const tag = (await app.get(path)).headers.get("etag");
    await app.updated(path, { text: "new" });
    for (const other of [tag, `"none"`, `"0"`]) {
      assertEquals((await app.patch(path, { text: "x" }, ifMatch(other))).status, 412, path);
      assertEquals((await app.delete(path, ifMatch(other))).status, 412, path);
    }
    assertEquals((await app.read(path)).text, "new");
    assertEquals((await app.patch(path, {}, ifMatch("*"))).status, 200, path);
    assertEquals((await app.delete(path, ifMatch("*"))).status, 204, path);
    assertEquals((await app.delete(path, ifMatch(tag))).status, 404, path);
  }
});

test("a version that a fetch hook leaves out is compared by the write", async () => {
  await using app = await mount([Tree]);
  const { _id } = await app.created("/trees", { text: "a" });
  const tagNow = async () => (await app.get(`/trees/${_id}`)).headers.get("etag");
  const old = await tagNow();
  assertEquals((await app.patch(`/found/${_id}`, { text: "b" }, ifMatch(old))).status, 200);
  assertEquals((await app.patch(`/found/${_id}`, { text: "c" }, ifMatch(old))).status, 412);
  assertEquals((await app.delete(`/found/${_id}`, ifMatch(old))).status, 412);
  assertEquals((await app.read(`/trees/${_id}`)).text, "b");
  assertEquals((await app.delete(`/found/${_id}`, ifMatch(await tagNow()))).status, 204);
});

test("a version that is stored in what is embedded does not count", async () => {
  await using app = await mount([Tree]);
  const [_id, outer, inner] = [1, 2, 3].map(() => new mongoose.Types.ObjectId());
  const leaves = [{ _id: outer, __v: 5, leaves: [{ _id: inner, __v: 7 }] }];
  for (const below of [`${outer}`, `${outer}/leaves/${inner}`]) {
    await getModel(Tree).collection.deleteMany({});
    await getModel(Tree).collection.insertOne({ _id, leaves } as never);
    const path = `/trees/${_id}/leaves/${below}`;
    const tag = (await app.get(path)).headers.get("etag");
    assertEquals(tag?.split(".")[0], `"none`, path);
    assertEquals((await app.patch(path, { text: "x" }, ifMatch(`"5", "7"`))).status, 412, path);
    assertEquals((await app.patch(path, { text: "x" }, ifMatch(tag))).status, 200, path);
    assertEquals((await app.delete(path, ifMatch(tag))).status, 412, path);
  }
});
