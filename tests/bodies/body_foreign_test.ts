import { assertEquals } from "@std/assert";
import { arrayProp, create, FrameworkModel, prop, replace, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mount, NOBODY } from "../support/support.ts";

class Place extends FrameworkModel {
  @prop()
  city?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
}

const ID = "1123456789abcdef01234567";

/** Makes an entity as a hook may: of plain objects, or of instances and Maps as the class declares them. */
const MAKERS = {
  plain: () => made((place) => place, (values) => values),
  typed: () =>
    made((place) => Object.assign(new Place(), place), (values) => new Map(Object.entries(values))),
};

function made(placeOf: (values: object) => object, mapOf: (values: object) => object): Foreign {
  const place = (city: string) =>
    placeOf({ _id: ID, city, secret: "SECRET", counts: mapOf({ a: 1, b: 2 }) });
  return {
    ...{ _id: NOBODY, counts: mapOf({ a: 1, b: 2 }), place: place("x"), list: [place("x")] },
    places: mapOf({ k: place("x"), l: placeOf({ city: "y" }) }),
  } as never;
}

let stored: Foreign;

const FROM_ELSEWHERE = {
  fetch: () => stored,
  persist: (_req: unknown, entity: Foreign) => stored = entity,
};

@rest({ route: "/foreign", methods: [update(FROM_ELSEWHERE), replace(FROM_ELSEWHERE)] })
class Foreign extends FrameworkModel {
  @prop({ type: Map, of: Number })
  counts?: Map<string, number>;
  @prop({ type: Place })
  place?: Place;
  @prop({ type: Map, of: Place })
  places?: Map<string, Place>;
  @arrayProp({ items: Place, embedded: true })
  list?: Place[];
}

/** Gives the values of an entity as plain objects, without those that an instance only declares. */
function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== "object" || value === null) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const present = entries.filter(([, each]) => each !== undefined);
  return Object.fromEntries(present.map(([key, each]) => [key, plainOf(each)]));
}

const BODIES = [
  { counts: { b: 3, c: 4 } },
  { counts: { a: null } },
  { counts: null },
  { place: { city: "z" } },
  { place: { counts: { b: null, c: 3 } } },
  { place: null },
  { places: { k: { city: "z", counts: { c: 3 } } } },
  { places: { k: null } },
  { places: null },
  { list: [{ _id: ID, city: "z", counts: { c: 3 } }] },
];

test("Maps and instances in entities of a fetch hook are merged as plain objects are", async () => {
  await using app = await mount([Foreign]);
  const send = async (method: string, { make, body }: { make: () => Foreign; body: object }) => {
    const before = stored = make();
    const { status, body: answer } = await app.send(method, `/foreign/${NOBODY}`, { body });
    return { status, answer, stored: plainOf(stored), before: plainOf(before) };
  };
  for (const method of ["PATCH", "PUT"]) {
    for (const body of BODIES) {
      const plain = await send(method, { make: MAKERS.plain, body });
      const typed = await send(method, { make: MAKERS.typed, body });
      assertEquals([plain.status, typed], [200, plain], `${method} ${JSON.stringify(body)}`);
    }
  }
  const { stored: kept } = await send("PATCH", { make: MAKERS.typed, body: { places: null } });
  assertEquals((kept as Record<string, unknown>).places, { k: { _id: ID, secret: "SECRET" } });
});

const LINE = { sku: "S", code: "a", tags: ["a"] };

let kept: Ruled;

const RULED = {
  fetch: () => kept,
  persist: (_req: unknown, entity: Ruled) => kept = entity,
};

class Line extends FrameworkModel {
  @prop({ immutable: true })
  sku?: string;
  @prop({ lowercase: true, trim: true, enum: ["a", "b"] })
  code?: string;
  @arrayProp({ items: String, uppercase: true })
  tags?: string[];
}

@rest({
  route: "/ruled",
  methods: [update(RULED), replace(RULED), create({ fetch: () => ({}) as Ruled, persist })],
})
class Ruled extends Line {
  @prop({ type: Line })
  line?: Line;
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
  @prop({ type: Map, of: Line })
  named?: Map<string, Line>;
}

function persist(_req: unknown, entity: Ruled): Ruled {
  return entity;
}

test("immutable fields and setters bind entities of a fetch hook as they bind documents", async () => {
  await using app = await mount([Ruled]);
  const sent = { sku: "T", code: " B ", tags: ["b", null] };
  const body = { ...sent, line: sent, lines: [{ _id: ID, ...sent }, sent], named: { k: sent } };
  const set = { sku: "S", code: "b", tags: ["B", null] };
  for (const method of ["PATCH", "PUT"]) {
    kept = { ...LINE, line: LINE, lines: [{ _id: ID, ...LINE }], named: { k: LINE } } as never;
    const { status, text } = await app.send(method, `/ruled/${NOBODY}`, { body });
    assertEquals(status, 200, text);
    assertEquals<unknown>(kept, {
      ...{ ...set, line: set, named: { k: set } },
      lines: [{ _id: ID, ...set }, { ...set, sku: "T" }],
    });
    await app.send(method, `/ruled/${NOBODY}`, { body: { sku: null } });
    assertEquals(kept.sku, "S");
    const wrong = await app.send(method, `/ruled/${NOBODY}`, { body: { sku: {} } });
    assertEquals(wrong.status, 400);
  }
  const { body: made } = await app.post("/ruled", { ...sent, line: sent });
  assertEquals([made.sku, made.code, made.line], ["T", "b", { ...set, sku: "T" }]);
});
