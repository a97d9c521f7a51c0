import { assertEquals } from "@std/assert";
import { Types } from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  prop,
  type Ref,
  removeAll,
  rest,
} from "../../mod.ts";
import { documentOf, mountDocumented } from "../support/documented.ts";
import { longTest, test } from "../harness/testing.ts";
import { asQuery, NOBODY } from "../support/support.ts";

class Stand extends FrameworkModel {
  @prop({ required: true })
  city!: string;
  @prop({ type: Number })
  size?: number;
}

class Vault extends FrameworkModel {
  @prop({ hidden: true })
  code?: string;
  @prop()
  label?: string;
}

@rest({ route: "/shops", methods: [all(), create(), removeAll()] })
class Shop extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  year?: number;
  @prop({ type: Boolean })
  open?: boolean;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: Types.Decimal128 })
  price?: Types.Decimal128;
  @prop({ type: Object })
  extra?: object;
  @prop({ type: Map, of: Number })
  stock?: Map<string, number>;
  @prop({ type: Stand })
  main?: Stand;
  @prop({ type: Vault })
  vault?: Vault;
  @prop({ hidden: true })
  secret?: string;
  @prop({ select: false })
  cost?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @arrayProp({ items: Stand, embedded: true })
  stands?: Stand[];
  @arrayProp({ items: () => Shop })
  others?: Ref<Shop>[];
}

const PATHS = [
  ...["_id", "name", "year", "open", "big", "price", "extra", "extra.a.b", "stock", "stock.a"],
  ...["main", "main.city", "vault", "vault.label", "vault.code", "secret", "cost", "tags"],
  ...["stands", "stands.city", "others", "__v", "none", "extra.$a", "main.none"],
];

/** Conditions that a filter may have on any path. */
const CONDITIONS = [
  ...[null, true, 1, 1.5, "", "a", "1", "true", NOBODY, [], {}, ["a"], [1], [null], [[1]]],
  ...[{ a: 1 }, { city: "a" }, { city: "a", size: "b" }, { code: "a" }, { $oid: NOBODY }],
  ...[{ $eq: "a" }, { $ne: 1 }, { $gt: "1" }, { $lte: null }, { $in: ["1"] }, { $in: "1" }],
  ...[{ $nin: [1, "a"] }, { $all: [] }, { $exists: true }, { $exists: "a" }, { $type: "string" }],
  ...[{ $type: "none" }, { $type: [2, "int"] }, { $size: 1 }, { $size: -1 }, { $mod: [2, 0] }],
  ...[{ $mod: [0, 1] }, { $mod: [2] }, { $regex: "^a" }, { $regex: 1 }, { $options: "i" }],
  ...[{ $regex: "a", $options: "i" }, { $regex: "a", $options: "g" }, { $not: { $gt: 1 } }],
  ...[{ $not: {} }, { $not: 1 }, { $not: { $where: "a" } }, { $elemMatch: { $eq: "1" } }],
  ...[{ $elemMatch: { city: "a" } }, { $elemMatch: {} }, { $elemMatch: 1 }, { $where: "1" }],
  ...[{ $gt: 1, a: 1 }, { $expr: {} }, { $in: [{}] }, { $eq: { city: "a" } }],
  ...[{ $regex: "a\0" }, { $regex: "a", $options: "\0" }, { $eq: "a\0" }, { $type: "a\0" }],
  ...[{ $in: ["a\0"] }, { "a\0": 1 }, { $not: { $regex: "\0" } }],
];

const CLAUSES = [
  ...[{}, { $and: [{}] }, { $or: [] }, { $nor: [{ name: "a" }] }, { $and: {} }, { $not: {} }],
  ...[{ $and: [{ none: 1 }] }, { $where: "1" }, { $text: { $search: "a" } }, { $comment: "a" }],
  ...[{ "main.city": { $in: ["a"] }, year: 1 }, { $or: [{ $and: [{ year: "x" }] }] }],
];

longTest("a filter is accepted if the document says so, and only then", async () => {
  await using app = await mountDocumented([Shop]);
  await app.created("/shops", { name: "a", tags: ["a"], main: { city: "a" }, extra: { a: 1 } });
  const isValid = app.named("ShopFilter");
  const paths = PATHS.flatMap((path) => CONDITIONS.map((condition) => ({ [path]: condition })));
  const different: string[] = [];
  for (const filter of [...CLAUSES, ...paths]) {
    const { status } = await app.get(`/shops${asQuery(filter)}`);
    if (isValid(filter) !== (status === 200)) different.push(JSON.stringify(filter));
  }
  assertEquals(different, []);
});

@rest({ route: "/stalls", methods: [all({ filter: ["stands.city"] }), create()] })
class Stall extends FrameworkModel {
  @arrayProp({ items: Stand, embedded: true })
  stands?: Stand[];
  @prop({ type: Stand })
  main?: Stand;
}

test("a listed field of elements is described below $elemMatch, and the element is not", async () => {
  await using app = await mountDocumented([Stall]);
  const q = app.operation("GET", "/stalls").parameters?.find(({ name }) => name === "q");
  const isValid = app.validator(q?.content?.["application/json"]?.schema ?? {});
  const city = { $elemMatch: { city: "a" } };
  const conditions = [
    ...[city, { $not: city }, { $not: { $not: city } }, { $elemMatch: { $or: [{ city: "a" }] } }],
    ...[{ $elemMatch: {} }, { $elemMatch: { size: 1 } }, { $elemMatch: { $exists: true } }],
    ...[{ city: "a" }, { $size: 1 }, { ...city, $size: 1 }, { $not: { $size: 1 } }, null, {}],
  ];
  for (const stands of conditions) {
    const { status } = await app.get(`/stalls${asQuery({ stands })}`);
    assertEquals([stands, isValid({ stands })], [stands, status === 200]);
  }
  assertEquals(isValid({ main: city }), false);
});

@rest({ route: "/words", methods: [all({ search: ["text"] })] })
class Word extends FrameworkModel {
  @prop()
  text?: string;
}

test("a NUL is refused where the document says so, and the message names it", async () => {
  await using app = await mountDocumented([Word]);
  const parameter = app.operation("GET", "/words").parameters?.find(({ name }) =>
    name === "search"
  );
  const isSearch = app.validator(parameter?.schema ?? {});
  assertEquals([isSearch("a b"), isSearch("a\0b")], [true, false]);
  const urls = ["/words?search=a%00b", `/words${asQuery({ text: { $regex: "a\0b" } })}`];
  const replies = await Promise.all(urls.map((url) => app.get<{ message: string }>(url)));
  assertEquals(replies.map(({ status, body }) => [status, body.message]), [
    [400, 'Parameter "search" takes a text without NUL'],
    [400, 'Operator "$regex" at "text" takes an expression without NUL'],
  ]);
});

test("no filter names what is hidden or not selected", async () => {
  const { schemas } = await documentOf([Shop]);
  const { properties } = schemas.ShopFilter as { properties: object };
  const hidden = ["secret", "cost", "vault.code"];
  assertEquals(Object.keys(properties).filter((path) => hidden.includes(path)), []);
  assertEquals("vault.label" in properties, true);
});

test("filters are described with the limits of their router", async () => {
  const queryLimits = { maxRegex: 3, maxList: 2 };
  await using app = await mountDocumented([Shop], { limits: { query: queryLimits } });
  const isValid = app.named("ShopFilter");
  const filters = [{ $regex: "abc" }, { $regex: "abcd" }, { $in: ["a", "b"] }, { $in: [..."abc"] }];
  const told = await Promise.all(filters.map(async (name) => {
    const { status } = await app.get(`/shops${asQuery({ name })}`);
    return [isValid({ name }), status];
  }));
  assertEquals(told, [[true, 200], [false, 400], [true, 200], [false, 400]]);
});

test("the option q writes the parameter as a text whose content is a filter", async () => {
  const { operation, document } = await documentOf([Shop], { q: "string" });
  const [q] = operation("DELETE", "/shops").parameters ?? [];
  assertEquals([q?.content, (q as { example?: unknown }).example], [
    undefined,
    JSON.stringify({ _id: "0".repeat(24) }),
  ]);
  assertEquals(q?.schema, {
    type: "string",
    contentMediaType: "application/json",
    contentSchema: { $ref: "#/components/schemas/ShopFilter" },
  });
  const { components } = (await documentOf([Shop])).document;
  assertEquals(document.components, components);
});

test("the parameter q says its limits, and has an example", async () => {
  const { operation } = await documentOf([Shop]);
  const [q] = operation("DELETE", "/shops").parameters ?? [];
  assertEquals([q?.name, q?.in, q?.required], ["q", "query", false]);
  assertEquals(q?.content?.["application/json"], {
    schema: { $ref: "#/components/schemas/ShopFilter" },
    example: { _id: "0".repeat(24) },
  });
});

class Folder extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: () => Folder, embedded: true })
  folders?: Folder[];
}

@rest({ route: "/trees", methods: [all(), create()] })
class Tree extends FrameworkModel {
  @prop({ type: Folder })
  root?: Folder;
}

test("a class that embeds itself has schemas that refer to themselves", async () => {
  const { named, schemas } = await documentOf([Tree]);
  const isTree = named("TreeNew");
  const folders = [{ name: "b", folders: [{ name: "c", folders: [] }] }];
  assertEquals(isTree({ root: { name: "a", folders } }), true);
  assertEquals(isTree({ root: { folders: [{ folders: [{ name: [] }] }] } }), false);
  const isFilter = named("TreeFilter");
  assertEquals(isFilter({ "root.folders.folders.name": "a" }), true);
  assertEquals([isFilter({ "root.none": 1 }), isFilter({ none: 1 })], [false, false]);
  const folderSchemas = Object.keys(schemas).filter((name) => name.startsWith("Folder"));
  assertEquals([folderSchemas.length, new Set(folderSchemas).has("Folder2")], [9, false]);
});

@rest({ route: "/pairs", methods: [all(), create()] })
class Pair extends FrameworkModel {
  @prop({ type: Folder })
  root?: Folder;
  @prop({ type: Folder })
  backup?: Folder;
}

test("a class that embeds itself has its fields at each of its places", async () => {
  await using app = await mountDocumented([Pair]);
  const isFilter = app.named("PairFilter");
  const paths = ["root.name", "root.none", "backup.name", "backup.none", "backup.folders.name"];
  const judged = await Promise.all(paths.map(async (path) => {
    const { status } = await app.get(`/pairs${asQuery({ [path]: "a" })}`);
    return [path, isFilter({ [path]: "a" }), status === 200];
  }));
  assertEquals(judged.filter(([, told, done]) => told !== done), []);
});
