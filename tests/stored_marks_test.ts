import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../mod.ts";
import { pass } from "./both_paths.ts";
import type { Client } from "./client.ts";
import { test } from "./harness/testing.ts";
import { mount } from "./support.ts";

class Inner extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ select: false })
  notes?: string;
}

const PLAIN = [all(), one(), update(), remove()];
const HOOKED = [
  all({ postFetch: pass }),
  one({ postFetch: pass }),
  update({ preSave: pass }),
  remove({ preSave: pass }),
];

@rest({ route: "/plain", methods: PLAIN })
@rest({ route: "/hooked", methods: HOOKED })
@rest({ route: "/spread", methods: [all({ preSend: (_req, each) => ({ ...each }) })] })
@rest({ route: "/lean", methods: [all({ preSend: pass, lean: true })] })
class Marked extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ type: Object })
  free?: object;
  @prop({ type: Map, of: Number })
  map?: Map<string, number>;
  @prop({ type: Inner })
  single?: Inner;
  @rest({ methods: PLAIN })
  @rest({ route: "/hooked", methods: HOOKED })
  @arrayProp({ items: Inner, embedded: true })
  items?: Inner[];
}

const MARKS = ["$__", "$isMongooseMap", "$isSingleNested", "isMongooseBuffer"];
const PART = new mongoose.Types.ObjectId();
const inner = { _id: PART, name: "n" };

/** What other programs may have stored, and what is shown of it. Mongoose reads those whose rank is a text. */
function casesOf(mark: string): [stored: object, shown: object][] {
  return [1, { a: 1 }, null].flatMap((value) => {
    const odd = { [mark]: value };
    const shown = { single: { _id: String(PART), name: "n" }, items: [] };
    return [1, "1"].flatMap((rank): [object, object][] => [
      [{ ...odd, rank, items: [] }, { rank: 1, items: [] }],
      [{ rank, free: { ...odd, a: [odd, { b: 1 }] }, items: [] }, {
        ...{ rank: 1, free: { a: [{}, { b: 1 }] }, items: [] },
      }],
      [{ rank, single: { ...odd, ...inner }, items: [] }, { rank: 1, ...shown }],
      [{ rank, items: [{ ...odd, ...inner }] }, { rank: 1, items: [shown.single] }],
    ]);
  });
}

async function store(stored: object): Promise<string> {
  const { collection } = getModel(Marked);
  await collection.deleteMany({});
  return String((await collection.insertOne({ ...stored, __v: 0 })).insertedId);
}

/** Reads an entity, changes it and removes it, on every path. */
async function check(app: Client, stored: object, shown: object): Promise<void> {
  for (const route of ["plain", "hooked", "spread", "lean"]) {
    const id = await store(stored);
    const whole = { _id: id, ...shown, __v: 0 };
    const expected = route === "lean"
      ? { ...whole, rank: (stored as typeof shown & { rank: unknown }).rank }
      : whole;
    assertEquals<unknown>(await app.read(`/${route}`), [expected], route);
    if (route === "spread" || route === "lean") continue;
    assertEquals<unknown>(await app.read(`/${route}/${id}`), whole, route);
    const changed = await app.updated(`/${route}/${id}`, { name: "x" });
    assertEquals<unknown>(changed, { ...whole, name: "x", __v: 1 }, route);
    assertEquals((await app.delete(`/${route}/${id}`)).status, 204);
  }
}

test("data under Mongoose's own keys is never shown, and makes nothing fail", async () => {
  await using app = await mount([Marked]);
  for (const mark of MARKS) {
    for (const [stored, shown] of casesOf(mark)) await check(app, stored, shown);
  }
});

test("a part with one of Mongoose's own keys can be read, changed and removed", async () => {
  await using app = await mount([Marked]);
  for (const mark of MARKS) {
    for (const route of ["items", "hooked"]) {
      const id = await store({ items: [{ ...inner, [mark]: 1 }] });
      const path = `/plain/${id}/${route}`;
      const shown = { _id: String(PART), name: "n" };
      assertEquals<unknown>(await app.read(path), [shown]);
      assertEquals<unknown>(await app.read(`${path}/${PART}`), shown);
      const changed = await app.updated(`${path}/${PART}`, { name: "x" });
      assertEquals<unknown>(changed, { ...shown, name: "x" });
      assertEquals((await app.delete(`${path}/${PART}`)).status, 204);
    }
  }
});

test("an instance shows no key of a Map that free-form data may not have", async () => {
  await using app = await mount([Marked]);
  for (const mark of [...MARKS, "__proto__", "constructor", "prototype"]) {
    await store({ map: Object.fromEntries([[mark, 1], ["a", 2]]) });
    const [shown] = await app.read<{ map: object }[]>("/lean");
    assertEquals([mark, JSON.stringify(shown?.map)], [mark, '{"a":2}']);
  }
});
