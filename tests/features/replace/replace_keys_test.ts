import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import type { Schema } from "mongoose";
import {
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  replace,
  rest,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount, type Mounted, NOBODY } from "../../support/support.ts";

const hooked = { preSend: pass };

@rest({ route: "/texts", methods: [replace({ by: "text" })] })
@rest({ route: "/slow/texts", methods: [replace({ by: "text", ...hooked }), one()] })
class Text extends FrameworkModel {
  @prop({ unique: true })
  text!: string;
  @prop()
  note?: string;
}

@rest({ route: "/lower", methods: [replace({ by: "code" })] })
@rest({ route: "/slow/lower", methods: [replace({ by: "code", ...hooked })] })
class Lower extends FrameworkModel {
  @prop({ unique: true, lowercase: true, trim: true, minLength: 2 })
  code!: string;
}

@rest({ route: "/numbers", methods: [replace({ by: "key" })] })
@rest({ route: "/slow/numbers", methods: [replace({ by: "key", ...hooked })] })
class Numbered extends FrameworkModel {
  @prop({ type: Number, unique: true })
  key!: number;
}

@rest({ route: "/integers", methods: [replace({ by: "key" })] })
@rest({ route: "/slow/integers", methods: [replace({ by: "key", ...hooked })] })
class Counted extends FrameworkModel {
  @prop({ type: BigInt, unique: true })
  key!: bigint;
}

@rest({ route: "/decimals", methods: [replace({ by: "key" })] })
@rest({ route: "/slow/decimals", methods: [replace({ by: "key", ...hooked })] })
class Priced extends FrameworkModel {
  @prop({ type: mongoose.Types.Decimal128, unique: true })
  key!: mongoose.Types.Decimal128;
}

@rest({ route: "/flags", methods: [replace({ by: "key" })] })
@rest({ route: "/slow/flags", methods: [replace({ by: "key", ...hooked })] })
class Flagged extends FrameworkModel {
  @prop({ type: Boolean, unique: true })
  key!: boolean;
}

@rest({ route: "/sparse", methods: [replace({ by: "code" }), create()] })
@rest({ route: "/slow/sparse", methods: [replace({ by: "code", ...hooked })] })
class Sparse extends FrameworkModel {
  @prop({ unique: true, sparse: true })
  code?: string;
  @prop()
  note?: string;
}

@rest({ route: "/dates", methods: [replace({ by: "key" })] })
@rest({ route: "/slow/dates", methods: [replace({ by: "key", ...hooked })] })
class Dated extends FrameworkModel {
  @prop({ type: Date, unique: true })
  key!: Date;
}

@rest({ route: "/uuids", methods: [replace({ by: "key" })] })
@rest({ route: "/slow/uuids", methods: [replace({ by: "key", ...hooked })] })
class Identified extends FrameworkModel {
  @prop({ type: mongoose.Types.UUID, unique: true })
  key!: mongoose.Types.UUID;
}

@rest({ route: "/profiles", methods: [replace({ by: "owner" })] })
@rest({ route: "/slow/profiles", methods: [replace({ by: "owner", ...hooked })] })
class Profile extends FrameworkModel {
  @prop({ ref: Text, unique: true, exists: true })
  owner!: Ref<Text>;
}

@rest({ route: "/ids", methods: [replace()] })
@rest({ route: "/slow/ids", methods: [replace({ ...hooked })] })
class Plain extends FrameworkModel {
  @prop()
  note?: string;
}

@rest({ route: "/by", methods: [replace({ by: "by" })] })
@rest({ route: "/slow/by", methods: [replace({ by: "by", ...hooked })] })
class By extends FrameworkModel {
  @prop({ unique: true })
  by!: string;
}

const KEYS = [
  ...["a/b", "50%", "%2F", "a b", "ü", "?q={}", "#", "..", "$where", "__proto__", "null", "0"],
  ...["a\u0000b", "a\\b", "'", '"', "A", "a", "[1]", '{"$gt":""}', "\u{1F600}"],
];

/** Puts a key twice; gives what the answers show, and where they are said to be. */
async function put({ put }: Mounted, path: string, body: object = {}) {
  const first = await put(path, body);
  const second = await put(path, body);
  return { first, statuses: [first.status, second.status] };
}

test("the key of a path is any text, each one for an entity of its own", async () => {
  await using app = await mount([Text]);
  for (const route of ["/texts", "/slow/texts"]) {
    await getModel(Text).collection.deleteMany({});
    for (const key of KEYS) {
      const path = `${route}/${key === ".." ? "%2e%2e." : encodeURIComponent(key)}`;
      const { first, statuses } = await put(app, path, { note: key });
      const expected = key === ".." ? "..." : key;
      assertEquals([...statuses, first.body.text], [201, 200, expected], path);
      const location = first.headers.get("location") ?? "";
      if (route === "/texts") assertEquals(location, path);
      else assertEquals((await app.get<Text>(location)).body.text, expected, location);
    }
    assertEquals(await getModel(Text).countDocuments(), KEYS.length);
    assertEquals((await app.put(`${route}/%ff`, {})).status, 404);
  }
});

test("the key of a path is cast and set as a body sets its field", async () => {
  const models = [Lower, Numbered, Counted, Priced, Flagged, Dated, Identified, By];
  await using app = await mount(models);
  const uuid = "01234567-89ab-4def-8123-456789abcdef";
  for (const before of ["", "/slow"]) {
    for (const model of models) await getModel(model).collection.deleteMany({});
    for (
      const [path, same, stored] of [
        ["/lower/ABC", "/lower/%20abc", "abc"],
        ["/numbers/5", "/numbers/5.0", 5],
        ["/numbers/-0.5", "/numbers/-5e-1", -0.5],
        ["/integers/9007199254740993", "/integers/09007199254740993", "9007199254740993"],
        ["/decimals/1.5", "/decimals/15e-1", "1.5"],
        ["/flags/true", "/flags/true", true],
        ["/by/slug", "/by/slug", "slug"],
        ["/dates/2020-01-01", "/dates/2020-01-01T01:00:00%2B01:00", "2020-01-01T00:00:00.000Z"],
        [`/uuids/${uuid}`, `/uuids/${uuid.toUpperCase()}`, uuid],
      ] as const
    ) {
      const made = await app.put(before + path, {});
      const again = await app.put(before + same, {});
      const { code, by = code, key = by } = again.body;
      assertEquals([made.status, again.status, key], [201, 200, stored], before + path);
      assertEquals(made.body._id, again.body._id, path);
      assertEquals(made.headers.get("location"), before + path);
    }
    const invalid = await app.put<ErrorBody>(`${before}/lower/a`, {});
    assertEquals([invalid.status, Object.keys(invalid.body.errors ?? {})], [400, ["code"]]);
  }
});

/** Texts in paths that are no value of the type of the key, though Mongoose would cast most of them. */
const NAMELESS: readonly (readonly [route: string, texts: readonly string[]])[] = [
  ["numbers", [
    "x",
    "Infinity",
    "NaN",
    " ",
    "0x10",
    "0b1",
    "0o7",
    " 5",
    "5 ",
    "1_0",
    "true",
    "1e999",
  ]],
  ["integers", ["x", " ", "0x10", "1.5", "5 ", "5n", "true", "9223372036854775808"]],
  ["decimals", ["x", " ", "0x10", "Infinity", "NaN", "1,5", "true"]],
  ["flags", ["x", " ", "1", "0", "yes", "no", "TRUE"]],
  ["dates", ["x", " ", "5", "-5", "2026", "1/2/2026", "2026-02-30", "2026-02-01T10:00", "true"]],
  ["uuids", ["x", " "]],
  ["profiles", ["x", " ", "5", "aaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaag"]],
  ["ids", ["x", " ", "5", "aaaaaaaaaaaaaaaaaaaaaaag", "aaaaaaaaaaaa"]],
];

test("a path that can name nothing is a 404, and nothing is stored", async () => {
  const models = [Numbered, Counted, Priced, Flagged, Dated, Identified, Profile, Plain];
  await using app = await mount([...models, Text]);
  const paths = NAMELESS.flatMap(([route, texts]) =>
    texts.map((text) => `/${route}/${encodeURIComponent(text)}`)
  );
  for (const path of paths.flatMap((each) => [each, `/slow${each}`])) {
    for (const headers of [{}, { "If-Match": "*" }, { "If-None-Match": "*" }]) {
      assertEquals((await app.put(path, {}, { headers })).status, 404, path);
    }
  }
  for (const model of models) assertEquals(await getModel(model).countDocuments(), 0);
});

/** Values of the field that names an entity: the same as in the path, and others. */
const IN_BODIES = [
  ["/texts/a", "text", ["a"], ["A", "", null, 5, ["a"], { $eq: "a" }]],
  ["/lower/ab", "code", ["AB", " ab "], ["abc", null]],
  ["/numbers/5", "key", [5, "5"], [6, "x", null, true]],
  [`/ids/${NOBODY}`, "_id", [NOBODY, NOBODY.toUpperCase()], ["x", null, 5, "a".repeat(24)]],
] as const;

test("a body that names another key is a 400, and the same key is none", async () => {
  await using app = await mount([Text, Lower, Numbered, Plain]);
  for (const before of ["", "/slow"]) {
    for (const [path, field, same, others] of IN_BODIES) {
      for (const value of others) {
        const { status, body } = await app.put<ErrorBody>(before + path, { [field]: value });
        const told = [status, body.code, body.errors?.[field]?.kind];
        assertEquals(told, [400, "BAD_DATA", "key"], `${path} ${JSON.stringify(value)}`);
      }
      for (const value of same) {
        const { status, text } = await app.put(before + path, { [field]: value });
        assertEquals(status, value === same[0] ? 201 : 200, path + text);
      }
    }
    for (const model of [Text, Lower, Numbered, Plain]) {
      assertEquals((await getModel(model).collection.deleteMany({})).deletedCount, 1);
    }
  }
  // An identifier beside another key is ignored, as in every body
  const { status, body } = await app.put("/texts/a", { _id: NOBODY });
  assertEquals([status, body._id === NOBODY], [201, false]);
});

test("an identifier that is a text is replaced and created by the texts that paths name", async () => {
  @rest({ route: "/named", methods: [replace(), one()] })
  class Named extends FrameworkModel {
    static override configure(schema: Schema) {
      schema.add({ _id: String } as never);
    }
    @prop()
    note?: string;
  }
  await using app = await mount([Named]);
  const id = "abcdefabcdefabcdefabcdef";
  for (const [status, path] of [[201, id], [200, id], [201, id.toUpperCase()]] as const) {
    const reply = await app.put(`/named/${path}`, { note: path });
    assertEquals([reply.status, reply.body._id], [status, path], reply.text);
    assertEquals((await app.get<Plain>(`/named/${path}`)).body.note, path);
  }
});

test("a key may be missing in entities that are not put", async () => {
  await using app = await mount([Sparse]);
  for (const before of ["", "/slow"]) {
    for (const note of ["a", "b"]) await app.post("/sparse", { note });
    const made = await Promise.all(
      Array.from({ length: 8 }, () => app.put(`${before}/sparse/x`, { note: "x" })),
    );
    assertEquals(made.map(({ status }) => status).toSorted(), [...Array(7).fill(200), 201]);
    const [_id] = new Set(made.map(({ body }) => body._id));
    assertEquals([made[0]?.body.code, await getModel(Sparse).countDocuments()], ["x", 3]);
    const again = await app.put(`${before}/sparse/x`, { note: "y" });
    assertEquals([again.status, again.body._id, again.body.note], [200, _id, "y"]);
    await getModel(Sparse).collection.deleteMany({});
  }
});

test("a key that is a reference names an entity that exists", async () => {
  await using app = await mount([Text, Profile]);
  const { body: { _id } } = await app.put("/texts/a", {});
  for (const before of ["", "/slow"]) {
    const missing = await app.put<ErrorBody>(`${before}/profiles/${NOBODY}`, {});
    assertEquals([missing.status, missing.body.errors?.owner?.kind], [400, "exists"]);
    const { first, statuses } = await put(app, `${before}/profiles/${_id}`);
    assertEquals([...statuses, first.body.owner], [201, 200, _id]);
    await getModel(Profile).collection.deleteMany({});
  }
});
