import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  type Ref,
  remove,
  replace,
  rest,
  StoredFile,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { fileAt, outcome, putSlowly, storedCounts } from "./shelf.ts";

const NOTHING = { files: 0, chunks: 0 };

/** What the guards of the application say at the moment. */
const rules = { isOpen: true, shelf: "one", isReader: false };

class Page extends FrameworkModel {
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 1_000_000 })
  scan?: StoredFile;
}

@rest({
  route: "/letters",
  methods: [
    one({ postFetch: (_req, letter) => letter.isLocked ? null : letter }),
    create(),
    remove(),
  ],
  scope: () => Promise.resolve({ shelf: rules.shelf }),
  tenant: "company",
})
class Letter extends FrameworkModel {
  @prop({ default: "one" })
  shelf!: string;
  @prop()
  company?: string;
  @prop({ default: false })
  isLocked!: boolean;
  @rest({ methods: [one(), replace({ preFetch: () => rules.isOpen }), remove()] })
  @prop({ type: StoredFile, maxBytes: 1_000_000, readonly: () => rules.isReader })
  scan?: StoredFile;
  @rest({ methods: [all(), one(), create()] })
  @arrayProp({ items: Page, embedded: true })
  pages!: Page[];
}

@rest({ route: "/desks", methods: [one(), create()], tenant: false })
class Desk extends FrameworkModel {
  @rest({ methods: [one()] })
  @prop({ ref: Letter })
  paper?: Ref<Letter>;
}

async function serveLetter() {
  Object.assign(rules, { isOpen: true, shelf: "one", isReader: false });
  const app = await mount([Letter, Desk], { tenant: () => "a", tidy: false });
  const { _id } = await app.created("/letters", {});
  const path = `/letters/${_id}`;
  const page = await app.created(`${path}/pages`, {});
  return {
    app,
    _id,
    path,
    scan: fileAt(`${app.url}${path}/scan`),
    ofPage: fileAt(`${app.url}${path}/pages/${page._id}/scan`),
    set: (values: object) =>
      mongoose.connection.collection("letters").updateOne({}, { $set: values }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

test("an upload is refused if a guard changes while its bytes arrive", async (t) => {
  type Served = Awaited<ReturnType<typeof serveLetter>>;
  const cases: Record<string, [change: (served: Served) => unknown, expected: number]> = {
    "a postFetch hook hides the entity": [({ set }) => set({ isLocked: true }), 404],
    "the entity leaves the scope": [({ set }) => set({ shelf: "two" }), 404],
    "the entity has another tenant": [({ set }) => set({ company: "b" }), 404],
    "the scope is another one": [() => rules.shelf = "two", 404],
    "a preFetch hook refuses": [() => rules.isOpen = false, 403],
    "the field is readonly": [() => rules.isReader = true, 403],
  };
  for (const [name, [change, expected]] of Object.entries(cases)) {
    await t.step(name, async () => {
      await using served = await serveLetter();
      const meanwhile = () => Promise.resolve(change(served));
      assertEquals((await outcome(putSlowly(served.scan, meanwhile)))[0], expected);
      assertEquals(await storedCounts(), NOTHING);
    });
  }
});

test("the guards of all entities above a part bind a slow upload", async () => {
  await using served = await serveLetter();
  const { ofPage, set } = served;
  assertEquals(await outcome(putSlowly(ofPage, () => set({ isLocked: true }))), [404, "NOT_FOUND"]);
  assertEquals(await storedCounts(), NOTHING);
  await set({ isLocked: false });
  assertEquals(await outcome(putSlowly(ofPage, () => set({ other: 1 }))), [201]);
});

test("If-Match binds an upload to the version at its end", async () => {
  await using served = await serveLetter();
  const { app, path, scan, set } = served;
  const tag = String((await app.get(path)).headers.get("etag"));
  const changed = await putSlowly(scan, () => set({ __v: 7 }), { "if-match": tag });
  assertEquals(await outcome(changed), [412, "PRECONDITION_FAILED"]);
  assertEquals(await storedCounts(), NOTHING);
});

test("an answer has the version of the entity after the upload", async () => {
  await using served = await serveLetter();
  const { app, path, scan, set } = served;
  const stored = await putSlowly(scan, () => set({ __v: 7 }));
  await stored.body?.cancel();
  const version = (tag: string | null) => String(tag).split(".")[0];
  assertEquals(
    version(stored.headers.get("etag")),
    version((await app.get(path)).headers.get("etag")),
  );
});

test("an upload whose path leads to another entity at its end is a 409", async () => {
  await using served = await serveLetter();
  const { app, _id } = served;
  const other = await app.created("/letters", {});
  const desk = await app.created("/desks", { paper: _id });
  const file = fileAt(`${app.url}/desks/${desk._id}/paper/scan`);
  const meanwhile = () =>
    mongoose.connection.collection("desks").updateOne({}, {
      $set: { paper: new mongoose.Types.ObjectId(other._id) },
    });
  assertEquals(await outcome(putSlowly(file, meanwhile)), [409, "CONFLICT"]);
  assertEquals(await storedCounts(), NOTHING);
  assertEquals(await outcome(file.put("x")), [201]);
});
