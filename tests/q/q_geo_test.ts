import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  FrameworkModel,
  getModel,
  one,
  prop,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount } from "../support/support.ts";

class Home extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ type: Number, hidden: true })
  x?: number;
  @prop({ type: Number })
  y?: number;
}

class Den extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ type: Number, select: false })
  x?: number;
  @prop({ type: Number })
  y?: number;
}

class Spot extends FrameworkModel {
  @prop({ type: Object })
  at?: object;
}

@rest({ route: "/people", methods: [all(), one(), update(), removeAll()] })
class Person extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Home })
  home?: Home;
  @prop({ type: Den })
  den?: Den;
  @arrayProp({ items: Home, embedded: true })
  homes?: Home[];
  @prop({ type: Map, of: Home })
  places?: Map<string, unknown>;
  @prop({ type: Object })
  free?: object;
  @rest({ methods: [all(), one(), removeAll()] })
  @arrayProp({ items: Spot, embedded: true })
  spots?: Spot[];
}

const BOX = { $box: [[0, 0], [50, 50]] };
const POINT = { $geometry: { type: "Point", coordinates: [0, 0] } };

async function ask({ get }: Client, filter: unknown): Promise<string> {
  const { status, body } = await get<ErrorBody>(`/people${asQuery(filter)}`);
  return `${status} ${body.code}`;
}

test("all() refuses a geo operator on an object that holds a secret", async (t) => {
  const operators: object[] = [
    { $geoWithin: BOX },
    { $geoWithin: { $center: [[0, 0], 5] } },
    { $geoIntersects: POINT },
    { $near: [0, 0] },
    { $nearSphere: [0, 0], $maxDistance: 1 },
    { $not: { $geoWithin: BOX } },
    { $not: { $not: { $geoIntersects: POINT } } },
    { $elemMatch: { $geoWithin: BOX } },
  ];
  await using app = await mount([Person]);
  const home = { x: 7, y: 7 };
  const given = { home, den: home, homes: [home], places: { a: home }, free: { a: 1 } };
  await getModel(Person).create(given as never);
  for (const path of ["home", "den", "homes", "homes.0", "places", "places.a"]) {
    for (const operator of operators) {
      await t.step(`${path} ${JSON.stringify(operator)}`, async () => {
        const filter = { [path]: operator };
        assertEquals(await ask(app, filter), "400 BAD_FORMAT");
      });
    }
  }
});

test("all() answers 400 when a distance is none or stands alone", async (t) => {
  const conditions: object[] = [
    { $near: [0, 0], $maxDistance: -1 },
    { $near: [0, 0], $maxDistance: [1] },
    { $near: [0, 0], $minDistance: "1" },
    { $near: { ...POINT, $maxDistance: -1 } },
    { $near: { ...POINT, $minDistance: [[1]] } },
    { $near: { $maxDistance: 1 } },
    { $near: [0, 0, -1] },
    { $near: [0] },
    { $near: 5 },
    { $near: { $box: [[0, 0], [1, 1]] } },
    { $geoIntersects: BOX },
    { $geoIntersects: [0, 0] },
    { $geoWithin: [0, 0] },
    { $geoWithin: { $box: 5 } },
    { $maxDistance: 1 },
    { $not: { $near: [0, 0] } },
  ];
  await using app = await mount([Person]);
  await getModel(Person).create({ free: { a: [1, 1] } });
  for (const condition of conditions) {
    await t.step(JSON.stringify(condition), async () => {
      const filter = { "free.a": condition };
      assertEquals(await ask(app, filter), "400 BAD_FORMAT");
    });
  }
});

test("all(), one() and removeAll() of embedded elements answer 400 to $near", async () => {
  await using app = await mount([Person]);
  const person = await getModel(Person).create({ spots: [{ at: { x: 1, y: 1 } }] } as never);
  const [spot] = (person as Person).spots ?? [];
  const url = `/people/${person._id}/spots`;
  const filter = asQuery({ at: { $near: [0, 0] } });

  const answers = await Promise.all([
    app.get(`${url}${filter}`),
    app.get(`${url}/${spot?._id}${filter}`),
    app.delete(`${url}${filter}`),
    app.delete(`/people${filter.replace("at", "free")}`),
  ]);

  assertEquals(answers.map(({ status }) => status), [400, 400, 400, 400]);
  const stored = await getModel(Person).findById(person._id) as Person;
  assertEquals(stored.spots?.length, 1);
});

test("all() answers 400 however q is written, when the database refuses it", async (t) => {
  const filter = encodeURIComponent(JSON.stringify({ free: { $near: [0, 0] } }));
  const deep = { [`free${".a".repeat(300)}`]: 1 };
  await using app = await mount([Person]);
  await getModel(Person).create({ name: "a" });
  for (
    const query of [`q=${filter}`, `%71=${filter}`, `a=1&%71=${filter}`, asQuery(deep).slice(1)]
  ) {
    await t.step(query.slice(0, 40), async () => {
      const { status, body } = await app.get<ErrorBody>(`/people?${query}`);
      assertEquals([status, body.code], [400, "BAD_FORMAT"]);
    });
  }
});
