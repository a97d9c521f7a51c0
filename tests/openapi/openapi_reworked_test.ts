import { assertEquals } from "@std/assert";
import { arrayProp, create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import { mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";

@rest({ route: "/words", methods: [create()] })
class Word extends FrameworkModel {
  @prop({ lowercase: true, match: /^[a-z]+$/ })
  matched?: string;
  @prop({ lowercase: true, enum: ["a"] as const })
  listed?: "a";
  @prop({ trim: true, minLength: 3, maxLength: 4 })
  bounded?: string;
  @prop({ uppercase: true, required: true, default: "D" })
  upper!: string;
  @prop({ trim: true, required: true, default: "d" })
  trimmed!: string;
  @prop({ uppercase: true, enum: ["TRUE", "5"] as const })
  coded?: "TRUE" | "5";
  @prop({ lowercase: true })
  free?: string;
  @prop({ trim: true, match: /^[0-9]+$/ })
  digits?: string;
}

test("texts that are changed before they are checked are accepted if the document says so", async () => {
  await using app = await mountDocumented([Word]);
  const isValid = app.named("WordNew");
  const cases: [object, boolean][] = [
    [{ matched: "ABC" }, true],
    [{ listed: "A" }, true],
    [{ bounded: "  abc  " }, true],
    [{ upper: " " }, true],
    [{ upper: "" }, false],
    [{ trimmed: " a " }, true],
    [{ trimmed: " " }, false],
    [{ matched: 5 }, false],
    [{ matched: true }, true],
    [{ listed: 5 }, false],
    [{ listed: false }, false],
    [{ bounded: true }, true],
    [{ bounded: false }, false],
    [{ coded: true }, true],
    [{ coded: false }, false],
    [{ coded: 5 }, true],
    [{ coded: 6 }, false],
    [{ free: 5 }, true],
    [{ free: true }, true],
    [{ digits: true }, false],
  ];
  for (const [body, taken] of cases) {
    const { status } = await app.send("POST", "/words", { body });
    assertEquals([body, status === 201, isValid(body)], [body, taken, taken]);
  }
});

test("the rules of texts that are changed before are told in words", async () => {
  await using app = await mountDocumented([Word]);
  const { properties } = app.schemas.WordNew as {
    properties: Record<string, { anyOf?: { description?: string }[] }>;
  };
  const told = (name: string) => properties[name]?.anyOf?.[0]?.description;
  assertEquals(told("matched"), "After lowercase: matches /^[a-z]+$/");
  assertEquals(told("listed"), 'After lowercase: one of ["a"]');
  assertEquals(told("bounded"), "After trim: at least 3 characters, at most 4 characters");
});

class Page extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ readonly: true })
  stamp?: string;
}

const schemaOptions = { strict: "throw", timestamps: true, versionKey: "rev" } as const;

@rest({ route: "/books", methods: [create(), one(), update()], schemaOptions })
class Book extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ readonly: true, default: "m" })
  made?: string;
  @prop({ readonly: true, hidden: true, default: "h" })
  secret?: string;
  @arrayProp({ items: Page, embedded: true })
  pages?: Page[];
}

test("strict bodies may have what was read, and no other field", async () => {
  await using app = await mountDocumented([Book]);
  const { _id } = await app.created("/books", { name: "Emma", pages: [{ text: "t" }] });
  const read = await app.read(`/books/${_id}`);
  assertEquals(
    Object.keys(read).filter((name) => name === "rev" || name === "updatedAt").length,
    2,
  );
  const isValid = app.named("BookPatch");
  for (const [body, taken] of [[read, true], [{ ...read, other: 1 }, false]] as const) {
    const { status } = await app.send("PATCH", `/books/${_id}`, { body });
    assertEquals([status === 200, isValid(body)], [taken, taken]);
  }
  const { properties } = app.schemas.BookNew as { properties: Record<string, unknown> };
  assertEquals(properties.made, { description: "Ignored" });
  assertEquals(["secret" in properties, "_id" in properties], [false, true]);
});
