import { assertEquals } from "@std/assert";
import { arrayProp, create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

class Knot extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: () => Knot })
  child?: Knot;
  @arrayProp({ items: () => Knot, embedded: true })
  children?: Knot[];
  @prop({ type: Map, of: () => Knot })
  named?: Map<string, unknown>;
  @prop({ type: Object })
  free?: unknown;
}

@rest({ route: "/ropes", methods: [create(), one(), update()] })
class Rope extends Knot {
  @rest({ methods: [create(), update()] })
  @arrayProp({ items: Knot, embedded: true })
  knots?: Knot[];
}

@rest({ route: "/hooked", methods: [create({ preSave: pass }), update({ preSave: pass })] })
class Hooked extends Knot {}

@rest({
  route: "/entities",
  methods: [
    create({ fetch: () => ({}), persist: (_req, entity) => ({ ...entity, _id: "k" }) }),
    update({ fetch: () => ({}), persist: pass }),
  ],
})
class Elsewhere extends Knot {}

/** What a body is nested in: the keys and positions that are repeated on the way to its innermost value. */
const WAYS: Record<string, readonly (string | number)[]> = {
  objects: ["child"],
  arrays: ["children", 0],
  maps: ["named", "a"],
  freeObjects: ["free", "a"],
  freeArrays: ["free", 0, 0],
  undeclared: ["other", 0],
  scalar: ["name", 0],
};

/** Makes a body whose innermost value is as many levels deep as told. */
function nest(way: readonly (string | number)[], depth: number): object {
  let value: unknown = null;
  for (let level = depth - 1; level >= 0; level--) {
    const key = way[level % way.length] as string | number;
    value = key === 0 ? [value] : { [key]: value };
  }
  return value as object;
}

test("create() and update() refuse a body that is nested more than 100 deep, on every way", async () => {
  await using app = await mount([Rope, Hooked, Elsewhere]);
  const rope = await app.created<EntityBody>("/ropes", {});
  const knot = await app.created<EntityBody>(`/ropes/${rope._id}/knots`, {});
  const hooked = await app.created<EntityBody>("/hooked", {});
  const created = ["/ropes", "/hooked", "/entities", `/ropes/${rope._id}/knots`];
  const updated = created.map((path, index) =>
    `${path}/${[rope._id, hooked._id, "k", knot._id][index]}`
  );
  for (const [name, way] of Object.entries(WAYS)) {
    for (const path of [...created, ...updated]) {
      const method = created.includes(path) ? "POST" : "PATCH";
      const { body } = await app.send<ErrorBody>(method, path, { body: nest(way, 101) });
      assertEquals([name, path, body.code], [name, path, "BAD_FORMAT"]);
      assertEquals(body.message, "The body is nested more than 100 deep");
    }
  }
});

test("create() takes a body that is nested 100 deep, on every way", async () => {
  await using app = await mount([Rope, Hooked, Elsewhere]);
  const { scalar: _scalar, ...ways } = WAYS;
  for (const [name, way] of Object.entries(ways)) {
    for (const path of ["/ropes", "/hooked", "/entities"]) {
      const { status } = await app.post(path, nest(way, 100));
      assertEquals([name, path, status], [name, path, 201]);
    }
  }
});

/** How many names were validated. */
const validated: string[] = [];

class Link extends FrameworkModel {
  @prop({ validate: (name: string) => validated.push(name) > 0 })
  name?: string;
  @prop({ type: Map, of: () => Link })
  named?: Map<string, unknown>;
}

@rest({ route: "/chains", methods: [create(), one(), update()] })
@rest({ route: "/hooked-chains", methods: [update({ preSave: pass })] })
class Chain extends Link {
  @rest({ methods: [create(), update()] })
  @arrayProp({ items: Link, embedded: true })
  links?: Link[];
}

/** Makes a body of Maps in Maps, with a name on each level. */
function chain(levels: number): object {
  const link = { name: `level ${levels}` };
  return levels === 1 ? link : { ...link, named: { a: chain(levels - 1) } };
}

test("update() validates each object of Maps in Maps once, however deep", async () => {
  await using app = await mount([Chain]);
  for (const levels of [2, 4, 8, 16, 32, 48]) {
    const { _id } = await app.created<EntityBody>("/chains", {});
    const link = await app.created<EntityBody>(`/chains/${_id}/links`, {});
    for (const path of [`/chains/${_id}`, `/chains/${_id}/links/${link._id}`]) {
      validated.length = 0;
      const { status } = await app.patch(path, chain(levels));
      assertEquals([path, status, validated.length], [path, 200, levels]);
    }
    const { _id: hooked } = await app.created<EntityBody>("/chains", {});
    validated.length = 0;
    const { status } = await app.patch(`/hooked-chains/${hooked}`, chain(levels));
    assertEquals([status, validated.length], [200, levels]);
  }
});
