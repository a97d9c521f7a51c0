import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mountLive, openLive } from "../features/live/live.ts";
import { type EntityBody, mount, type Mounted } from "../support/support.ts";

const pass = <E>(_req: FrameworkRequest, entity: E): E => entity;

/** The fields of every scalar type. */
const SCALARS: Readonly<Record<string, unknown>> = {
  text: String,
  number: Number,
  flag: Boolean,
  date: Date,
  big: BigInt,
  bytes: mongoose.Schema.Types.Buffer,
  decimal: mongoose.Schema.Types.Decimal128,
  uuid: mongoose.Schema.Types.UUID,
  identifier: mongoose.Schema.Types.ObjectId,
  double: mongoose.Schema.Types.Double,
  int: mongoose.Schema.Types.Int32,
};

class Scalars extends FrameworkModel {
  @prop()
  name?: string;

  static override configure(schema: mongoose.Schema): void {
    schema.add(SCALARS as never);
    schema.add({ nested: { text: String } });
  }
}

@rest({ route: "/targets", methods: [all(), one()] })
class Target extends Scalars {}

@rest({
  route: "/plain",
  methods: [
    all({ groups: { by: ["name"], max: 99 }, populate: { ref: true }, live: true }),
    one(),
    update(),
  ],
})
@rest({
  route: "/hooked",
  methods: [
    all({ preSend: pass, live: true, populate: { ref: true } }),
    one({ preSend: pass }),
    update({ preSave: pass }),
  ],
})
@rest({ route: "/lean", methods: [all({ lean: true }), one({ lean: true })] })
class Odd extends Scalars {
  @prop({ ref: Target })
  ref?: Ref<Target>;
  @arrayProp({ items: String })
  texts?: string[];
  @arrayProp({ items: Scalars, embedded: true })
  @rest({ methods: [all(), one()] })
  parts?: Scalars[];
  @prop({ type: Scalars })
  held?: Scalars;
  @prop({ type: Map, of: String })
  words?: Map<string, string>;
  @prop({ type: Object })
  free?: unknown;
}

/** Names of members that JavaScript or the driver calls. */
const NAMES = ["toString", "valueOf", "toJSON", "constructor", "__proto__", "_bsontype", "then"];
const VALUES = ["x", 5, null, {}, ["a"], "ObjectId"];

/** The expression of an object with one key. The driver writes no `_bsontype`, but the server does. */
function objectOf([name, value]: readonly [string, unknown]) {
  return { $arrayToObject: { $literal: [{ k: name, v: value }] } };
}

/** Stores an entity with an odd value in every field, in all that it embeds, and in the entity that it refers to. */
async function storeOdd(pair: readonly [string, unknown]) {
  const value = objectOf(pair);
  const scalars = Object.fromEntries(Object.keys(SCALARS).map((name) => [name, value]));
  const inner = { ...scalars, name: "n", nested: { text: value } };
  const [id, part, ref] = [0, 1, 2].map(() => new mongoose.Types.ObjectId());
  const more = { free: value, words: { k: value }, texts: [value], ref };
  const odd = { ...inner, ...more, parts: [{ _id: part, ...inner }], held: inner };
  for (const [target, _id, values] of [[Odd, id, odd], [Target, ref, inner]] as const) {
    const { collection } = getModel(target as typeof Target);
    await collection.deleteMany({});
    await collection.insertOne({ _id } as never);
    await collection.updateOne({ _id } as never, [{ $replaceWith: { _id, ...values } }]);
  }
  return { id: String(id), part: String(part), ref: String(ref) };
}

/** Returns the names of the fields that an answer shows with a value that does not fit. */
function misfits(body: unknown): string[] {
  const [shown = {} as EntityBody] = [body].flat() as EntityBody[];
  const inner = [shown, shown.held, ...[shown.parts ?? []].flat()] as Partial<EntityBody>[];
  return inner.flatMap((
    each,
  ) => [...Object.keys(SCALARS).map((name) => each?.[name]), Object(each?.nested).text]).filter((
    value,
  ) => value !== undefined && value !== null).map((value) => JSON.stringify(value));
}

async function readOdd(
  app: Mounted,
  failures: readonly unknown[],
  pair: readonly [string, unknown],
) {
  const { id, part, ref } = await storeOdd(pair);
  const paths = [
    ...["plain", "hooked", "lean"].flatMap((each) => [`/${each}`, `/${each}/${id}`]),
    ...[`/plain/${id}/parts`, `/plain/${id}/parts/${part}`, `/targets/${ref}`],
    ...["/plain?populate=ref", "/plain?group=name", `/hooked?populate=ref`],
  ];
  for (const path of paths) {
    const { status, text, body } = await app.get(path);
    const told = `${path} ${Deno.inspect(pair)} ${failures.at(-1)} ${text}`;
    assertEquals([status, misfits(body)], [200, []], told);
    if (path.startsWith("/lean/")) assertEquals(Object.keys(Object(body)).includes("free"), true);
  }
  const before = await getModel(Odd).collection.findOne();
  const { status, text } = await app.patch(`/plain/${id}`, { name: "m" });
  assertEquals(status, 200, `${Deno.inspect(pair)} ${failures.at(-1)} ${text}`);
  const after = await getModel(Odd).collection.findOne();
  assertEquals({ ...Object(after), name: "n", __v: 0 }, { ...Object(before), __v: 0 });
}

for (const [index, name] of NAMES.entries()) {
  test(`a stored { ${name} } in a field of any type is left out on every way`, async () => {
    const failures: unknown[] = [];
    const onError = (_req: unknown, error: unknown) => void failures.push(error);
    await using app = await mount([Odd, Target], { onError });
    // Each second value, by turns
    for (const value of VALUES.filter((_, at) => at % 2 === index % 2)) {
      await readOdd(app, failures, [name, value]);
    }
  });
}

test("a live list leaves out stored values without a text", async () => {
  const failures: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => void failures.push(error);
  await using app = await mountLive([Odd, Target], { onError });
  await storeOdd(["toString", "x"]);
  for (const path of ["/plain", "/hooked"]) {
    await using live = await openLive(`${app.url}${path}`);
    assertEquals(live.answer.status, 200, String(Object(failures.at(-1)).stack));
    await live.came(1);
    assertEquals(misfits(live.items), [], live.wire);
  }
});

@rest({ route: "/counted", methods: [all(), one(), update()] })
@rest({ route: "/counted-hooked", methods: [all({ preSend: pass }), one({ preSend: pass })] })
class Counted extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
}

test("a list in the place of a Map is left out, whatever its objects hold", async () => {
  await using app = await mount([Counted]);
  const { collection } = getModel(Counted);
  for (const counts of [[{ toString: 1 }], [[{ toString: 1 }]], [1, { toString: "x" }]]) {
    await collection.deleteMany({});
    const { insertedId } = await collection.insertOne({ counts, name: "a" } as never);
    for (const route of ["/counted", "/counted-hooked"]) {
      for (const path of [route, `${route}/${insertedId}`]) {
        const { status, text, body } = await app.get(path);
        const [shown] = [body].flat() as EntityBody[];
        assertEquals([status, shown?.name, shown?.counts], [200, "a", undefined], text);
      }
    }
    const { status } = await app.patch(`/counted/${insertedId}`, { name: "b" });
    assertEquals([status, (await collection.findOne())?.counts], [200, counts as never]);
  }
});
