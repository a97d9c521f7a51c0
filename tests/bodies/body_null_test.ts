import { assertEquals } from "@std/assert";
import { arrayProp, create, FrameworkModel, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

class Size extends FrameworkModel {
  @prop({ type: Number })
  width?: number;
  @prop({ type: Number, default: 1 })
  height!: number;
}

class Thing extends FrameworkModel {
  @prop({ required: true, default: "unnamed" })
  name!: string;
  @prop()
  nick?: string;
  @prop({ type: Number, default: 7 })
  rank!: number;
  @prop({ type: Date, default: new Date("2020-01-01") })
  since!: Date;
  @prop({ default: (thing: Thing) => `the ${thing.name}` })
  title!: string;
  @prop({ type: Size })
  size?: Size;
  @prop({ type: Object, default: { a: [1] } })
  free!: object;
  @prop({ type: Map, of: Number })
  counts?: Map<string, unknown>;
  @prop({ type: Map, of: Size })
  sizes?: Map<string, unknown>;
  @arrayProp({ items: String })
  tags!: string[];
  @arrayProp({ items: String, default: ["new"] })
  labels!: string[];
}

@rest({ route: "/documents", methods: [create(), update()] })
class Stored extends Thing {}

const rows = new Map<string, Record<string, unknown>>();

/** What another database does with an entity. */
function persist(_req: unknown, entity: object): object {
  const row: Record<string, unknown> = { _id: String(rows.size), ...entity };
  rows.set(String(row._id), row);
  return row;
}

const methods = [
  create({ fetch: () => ({}), persist }),
  update({ fetch: (req) => rows.get(String(req.params.id)), persist }),
];

@rest({ route: "/entities", methods })
class Elsewhere extends Thing {}

const FULL = {
  name: "A",
  nick: "a",
  rank: 1,
  since: "1999-01-01T00:00:00.000Z",
  title: "B",
  size: { width: 1, height: 2 },
  free: { b: 1 },
  counts: { a: 1, b: 2 },
  sizes: { a: { width: 1, height: 2 }, b: { width: 3, height: 4 } },
  tags: ["x"],
  labels: ["y"],
};

const DEFAULTS = { rank: 7, since: "2020-01-01T00:00:00.000Z", title: "the A", free: { a: [1] } };

for (const [kind, route] of [["a document", "/documents"], ["another entity", "/entities"]]) {
  test(`update() gives a field of ${kind} that null clears its default, or removes it`, async () => {
    await using app = await mount([Stored, Elsewhere]);
    const { _id } = await app.created<EntityBody>(`${route}`, FULL);
    const { name: _name, ...fields } = FULL;
    const nulls = Object.fromEntries(Object.keys(fields).map((key) => [key, null]));
    const { _id: _same, __v, ...cleared } = await app.updated(`${route}/${_id}`, nulls);
    assertEquals(cleared, { name: "A", ...DEFAULTS, tags: [], labels: [] });
  });

  test(`update() gives null inside ${kind} the same meaning, and removes keys of Maps`, async () => {
    await using app = await mount([Stored, Elsewhere]);
    const { _id } = await app.created<EntityBody>(`${route}`, FULL);
    const changed = await app.updated(`${route}/${_id}`, {
      size: { width: null, height: null },
      counts: { a: null },
      sizes: { a: null, b: { width: null, height: null } },
    });
    const { size, counts, sizes } = changed as unknown as typeof FULL;
    assertEquals([counts, Object.keys(sizes)], [{ b: 2 }, ["b"]]);
    for (const { width, height } of [size, sizes.b]) assertEquals([width, height], [undefined, 1]);
  });

  test(`update() refuses null for a required field of ${kind} that has a default`, async () => {
    await using app = await mount([Stored, Elsewhere]);
    const { _id } = await app.created<EntityBody>(`${route}`, FULL);
    const reply = await app.patch<ErrorBody>(`${route}/${_id}`, { name: null });
    assertEquals([reply.status, reply.body.errors?.name?.kind], [400, "required"]);
  });
}
