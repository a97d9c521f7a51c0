import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  getModel,
  type Hidden,
  one,
  prop,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";

class Deep extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number, hidden: true })
  pin?: Hidden<number>;
}

class Inner extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: Number, hidden: true })
  pins?: Hidden<number[]>;
  @prop({ type: Map, of: Number, hidden: true })
  pinMap?: Hidden<Map<string, number>>;
  @arrayProp({ items: Deep, embedded: true })
  deeps?: Deep[];
}

const hooks = { postFetch: pass, preSave: pass, preSend: pass };

@rest({ route: "/things", methods: [one(), update(hooks), replace(hooks)] })
class Thing extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ type: Inner })
  inner?: Inner;
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
  @prop({ type: Map, of: Inner })
  map?: Map<string, Inner>;
}

/** Mongoose reads its entities, because of the property with `apart`. */
@rest({ route: "/parted", methods: [one(), update(hooks), replace(hooks)] })
class Parted extends Thing {
  static override schemaOptions = { collection: "things" };
  @rest({ methods: [all()] })
  @arrayProp({ items: Deep, embedded: true, apart: true })
  others?: Deep[];
}

type Id = mongoose.Types.ObjectId;

const IDS = Array.from({ length: 3 }, () => new mongoose.Types.ObjectId());
const [ID, FIRST, SECOND] = IDS as [Id, Id, Id];

function stored(hidden: object, pin: unknown = 1) {
  const inner = (_id: unknown) => ({ _id, name: "n", deeps: [{ _id: FIRST, name: "d", pin }] });
  return {
    ...{ _id: ID, title: "t", inner: inner(FIRST), map: { k: inner(FIRST) }, __v: 0 },
    inners: [inner(FIRST), { ...inner(SECOND), ...hidden }],
  };
}

const MOVED = { inners: [{ _id: SECOND, name: "b" }, { _id: FIRST, name: "a" }] };
const [OBJECT, PLACES] = [{ length: 1 }, [[1], { k: [] }]];

const KEPT: Record<string, unknown>[] = [
  { pins: OBJECT },
  { pins: PLACES },
  { pinMap: { $k: 1 } },
  { pinMap: { "a.b": 1 } },
  { pinMap: { constructor: 1 } },
  { pinMap: true },
];

const REMOVALS = [
  MOVED,
  { inners: [{ name: "new" }, ...MOVED.inners] },
  { inners: [] },
  { inner: { name: "b", deeps: [] } },
  { inner: { name: "b", deeps: [{ name: "e" }] } },
  { map: { k: { name: "b", deeps: [] } } },
  { map: { k: null } },
];

function withoutNewIds(text: string): string {
  return text.replace(
    /"_id":"([^"]*)",?/g,
    (field, id) => IDS.map(String).includes(id) ? field : "",
  );
}

for (const verb of ["patch", "put"] as const) {
  test(`hidden lists and Maps of a wrong type stay in elements that move: ${verb}`, async () => {
    await using app = await mountOnReplicaSet([Thing]);
    const { collection } = getModel(Thing);
    for (const hidden of KEPT) {
      await collection.deleteMany({});
      await collection.insertOne(stored(hidden));
      const { status, text } = await app[verb](`/things/${ID}`, MOVED);
      assertEquals(status, 200, `${Deno.inspect(hidden)} ${text}`);
      const { inners: [moved] } = (await collection.findOne()) as unknown as Record<
        "inners",
        [object]
      >;
      assertEquals(Object.entries(moved).find(([key]) => key in hidden), Object.entries(hidden)[0]);
    }
  });

  test(`hidden values of a wrong type decide nothing where their object goes: ${verb}`, async () => {
    await using app = await mountOnReplicaSet([Thing, Parted]);
    const { collection } = getModel(Thing);
    const answerTo = async (body: object, pin: unknown, route: string) => {
      await collection.deleteMany({});
      await collection.insertOne(stored({}, pin));
      const { status, text } = await app[verb](`${route}/${ID}`, body);
      return [status, withoutNewIds(text)];
    };
    for (const route of ["/things", "/parted"]) {
      for (const body of REMOVALS) {
        const usual = await answerTo(body, 1, route);
        for (const wrong of [OBJECT, "abc", { toString: "x" }, []]) {
          assertEquals(
            await answerTo(body, wrong, route),
            usual,
            `${route} ${JSON.stringify(body)}`,
          );
        }
      }
    }
  });
}
