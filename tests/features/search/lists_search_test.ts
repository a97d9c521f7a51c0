import { assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { mountPieces, placesOf } from "../../fixtures/pieces.ts";
import { longTest, test } from "../../harness/testing.ts";
import { type ErrorBody, mount } from "../../support/support.ts";

/** Searches each list, and gives the places of what it finds. */
async function searching(names: readonly unknown[], searches: [text: string, found: number[]][]) {
  await using app = await mountPieces(names.map((name) => ({ name })));
  for (const list of app.lists) {
    for (const [text, found] of searches) {
      const path = `${list}?limit=10&search=${encodeURIComponent(text)}`;
      assertEquals([list, text, placesOf(await app.read(path))], [list, text, found]);
    }
  }
}

test("what a client searches for is text, never an expression", async () => {
  const texts = ["a.c", "abc", "a*", "^a", "(a", "a|b", "[a]", "a\\d", "a$", "$where"];
  const others = ["a/b", "a-b", "#a", '"a"', "{a}", "\\Qa\\E", "a?", "+a", "(?i)a", "\\"];
  for (const names of [texts, others]) {
    const found = (text: string) =>
      names.flatMap((name, place) => name.includes(text) ? place : []);
    await searching(names, names.map((name) => [name, found(name)]));
  }
  await searching(["abc", "a c", "a#c", "aXc"], [
    [".", []],
    ["a.c", []],
    [".*", []],
    ["(?i)", []],
    ["#", [2]],
    ["\\E", []],
    ["[", []],
    ["a|b", []],
  ]);
});

test("search takes ten words", async () => {
  const words = Array.from({ length: 10 }, (_, index) => `w${index}`).join(" ");
  await searching([words, "w0"], [[words, [0]]]);
});

test("search finds Latin letters with and without marks, both ways", async () => {
  await searching(["Élan", "elan", "e\u0301lan", "Ệlan", "ELAN"], [
    ["elan", [0, 1, 2, 3, 4]],
    ["élan", [0, 1, 2, 3, 4]],
    ["e\u0301LÁN", [0, 1, 2, 3, 4]],
    ["lañ", [0, 1, 2, 3, 4]],
  ]);
  await searching(["Ångström", "İstanbul", "naïve café", "x\u030c", "groß"], [
    ["angstrom", [0]],
    ["istanbul", [1]],
    ["cafe NAIVE", [2]],
    ["x", [3]],
    ["x\u030c", [3]],
    ["groß", [4]],
    ["GROß", [4]],
  ]);
});

test("search finds text of any script, composed or not", async () => {
  const names = ["Ελλάδα", "Йошкар", "ガンダム", "हिन्दी", "한국어", "שָׁלוֹם", "日本", "👍🏽 ok", "ﬁn"];
  const found = names.flatMap((name, place): [string, number[]][] =>
    [...name.split(" "), name.normalize("NFD")].map((each) => [each, [place]])
  );
  await searching(names, [...found, ["йошкар", [1]], ["ΕΛΛΆΔΑ", [0]]]);
  await searching(names.map((name) => name.normalize("NFD")), found.slice(0, 8));
});

longTest("a search as long as possible, of any letters, is answered", async () => {
  for (const letter of ["e", "o", "é", "ệ", "日", "\\", "👍", "\u0301", "e\u0301", "が"]) {
    const text = letter.repeat(200 / letter.length);
    await searching([text, letter], [[text, [0]]]);
  }
});

test("text that no field can hold is not searched for", async () => {
  await using app = await mountPieces([{ name: "a" }]);
  for (const text of ["%00", "a%00", "%ED%A0%80", "a%ED%B0%80b"]) {
    assertEquals((await app.get<ErrorBody>(`/bare?search=${text}`)).status, 400);
  }
});

test("values that are no text are found by no search, and break none", async () => {
  await searching([1, null, true, {}, ["alien"], new Date(0), "alien 1"], [["1", [6]]]);
});

const search = { search: { index: true as const }, page: { max: 9 } };

@rest({ route: "/indexed", methods: [all({ ...search, count: { always: true } }), one()] })
@rest({ route: "/indexed-hooked", methods: [all({ ...search, preSend: pass })] })
class Indexed extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: [all(search)] })
  @arrayProp({ items: () => Indexed })
  others?: Ref<Indexed>[];
  static override configure(schema: Schema) {
    schema.index({ name: "text" });
  }
}

test("search in a text index takes words as they are", async () => {
  await using app = await mount([Indexed]);
  const model = getModel(Indexed);
  await model.init();
  const names = ["alien war", "alien peace", 'say "war" twice', "-peace", "café noir"];
  const docs = await model.create(names.map((name) => ({ name })));
  const [root] = await model.create([{ others: docs.slice(1).map(({ _id }) => String(_id)) }]);
  const searches: [string, string[]][] = [
    ["alien", ["alien war", "alien peace"]],
    ["ALIEN war", ["alien war"]],
    ["alien -war", []],
    ["-peace", ["-peace"]],
    ['"war" alien', ["alien war"]],
    ['"alien peace"', ["alien peace"]],
    ["CAFE", ["café noir"]],
    ["none", []],
    ['"', []],
    ["-", []],
  ];
  for (const list of ["/indexed", "/indexed-hooked", `/indexed/${root?._id}/others`]) {
    for (const [text, expected] of searches) {
      const found = await app.read<Indexed[]>(`${list}?search=${encodeURIComponent(text)}`);
      const wanted = expected.filter((name) => !list.includes("others") || name !== names[0]);
      assertEquals([list, text, found.map(({ name }) => name)], [list, text, wanted]);
    }
  }
});
