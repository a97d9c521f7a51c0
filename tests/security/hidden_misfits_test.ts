import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  action,
  arrayProp,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { casesOf } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { asQuery, type Mounted } from "../support/support.ts";

class Inner extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number, hidden: true })
  pin?: number;
}

const touch = action("touch", {
  on: "one",
  async run(_req, thing: Entity<Thing>) {
    thing.title = "touched";
    return await thing.save();
  },
});

const hooks = { postFetch: pass, preSave: pass, preSend: pass };
const removing = { postFetch: pass, preSave: pass };

@rest({
  route: "/things",
  methods: [
    one(),
    update(hooks),
    replace(hooks),
    remove(removing),
    updateAll({ fields: ["title", "inner"], ...removing }),
    removeAll(removing),
    touch,
  ],
})
class Thing extends FrameworkModel {
  @prop()
  title?: string;
  @prop({ type: Number, hidden: true })
  number?: number;
  @prop({ type: Date, select: false })
  at?: Date;
  @prop({ type: Inner, hidden: true })
  secret?: Inner;
  @arrayProp({ items: Number, hidden: true })
  numbers?: number[];
  @arrayProp({ items: Inner, embedded: true, hidden: true })
  secrets?: Inner[];
  @prop({ type: Map, of: Number, hidden: true })
  named?: Map<string, number>;
  @rest({ methods: [update(hooks), remove(removing)] })
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Map, of: Inner })
  map?: Map<string, Inner>;
  @rest({ methods: [update(hooks), remove(removing), updateAll({ fields: ["name"] })] })
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
}

@rest({
  route: "/kept",
  methods: [one(), update(hooks), remove(removing)],
  history: true,
  trash: { see: () => true },
})
class Kept extends Thing {}

const [FIRST, SECOND] = [1, 2].map(() => new mongoose.Types.ObjectId());

function stored(): Record<string, unknown> {
  const inner = { _id: FIRST, name: "n", pin: 1 };
  return {
    ...{ title: "t", number: 1, at: new Date(0), secret: { ...inner }, numbers: [1] },
    ...{ secrets: [{ ...inner }], named: { k: 1 }, inner: { ...inner }, map: { k: { ...inner } } },
    inners: [{ ...inner }, { ...inner, _id: SECOND }],
    __v: 0,
  };
}

const HIDDEN = ["number", "at", "secret", "numbers", "secrets", "named"]
  .concat("inner.pin", "map.k.pin", "inners.0.pin", "inners.1.pin");
const { MinKey } = mongoose.mongo;
const WRONG = ["abc", "", { toString: "x" }, [""], [{ pin: "abc" }], new MinKey()];

/** Every hidden path with every wrong value. */
const MISFITS = HIDDEN.flatMap((path) => WRONG.map((wrong) => [path, wrong] as const));

/** Each request meets some of them, and all requests together meet each several times. */
const STEP = Math.round(39 / casesOf(13, 3));

type Sent = Promise<{ readonly status: number; readonly text: string }>;
type Send = (app: Mounted, id: string) => Sent;

const MOVED = [{ _id: SECOND, name: "b" }, { _id: FIRST, name: "a" }];
const BODIES = [{ title: "b" }, { inner: null }, { inner: { name: "b" } }, { inners: MOVED }]
  .concat([{ map: { k: { name: "b" } } }, { map: { k: null } }] as never);

const REQUESTS: [string, Send][] = [
  ...BODIES.flatMap((body): [string, Send][] => [
    [`update ${JSON.stringify(body)}`, (app, id) => app.patch(`/things/${id}`, body)],
    [`replace ${JSON.stringify(body)}`, (app, id) => app.put(`/things/${id}`, body)],
  ]),
  ["updateAll", (app, id) => app.patch(`/things${asQuery({ _id: id })}`, { title: "b" })],
  ["updateAll by null", (app, id) => app.patch(`/things${asQuery({ _id: id })}`, { inner: null })],
  ["action", (app, id) => app.post(`/things/${id}/touch`)],
  ["part", (app, id) => app.patch(`/things/${id}/inner`, { name: "b" })],
  ["element", (app, id) => app.patch(`/things/${id}/inners/${FIRST}`, { name: "b" })],
  ["elements", (app, id) => app.patch(`/things/${id}/inners${asQuery({})}`, { name: "b" })],
  ["history", async (app, id) => {
    const { status } = await app.patch(`/kept/${id}`, { title: "b" });
    const history = await app.get(`/kept/${id}/history`);
    return { ...history, text: `${status} ${history.text}` };
  }],
  ...BODIES.map((body): [string, Send] => [`revert of ${JSON.stringify(body)}`, async (app, id) => {
    await app.patch(`/kept/${id}`, body);
    return await app.post(`/kept/${id}/revert`, { version: 0 });
  }]),
  ["restore", async (app, id) => {
    await app.delete(`/kept/${id}`);
    return await app.post(`/kept/${id}/restore`);
  }],
  ["remove element", (app, id) => app.delete(`/things/${id}/inners/${SECOND}`)],
  ["remove", (app, id) => app.delete(`/things/${id}`)],
  ["removeAll", (app) => app.delete("/things")],
];

function put(values: Record<string, unknown>, path: string, wrong: unknown): void {
  const names = path.split(".");
  const last = names.pop() as string;
  const holder = names.reduce((at, name) => at[name] as Record<string, unknown>, values);
  holder[last] = wrong;
}

const GONE = Symbol();

/** Finds a hidden value again, whose element may have moved. */
function valueAt(values: Record<string, unknown> | null, path: string): unknown {
  let at: unknown = values ?? GONE;
  for (const name of path.split(".")) {
    if (at === GONE) break;
    const id = String(name === "0" ? FIRST : SECOND);
    at = Array.isArray(at) ? at.find((each) => String(each._id) === id) ?? GONE : Object(at)[name];
  }
  return at;
}

test("a hidden value of a wrong type changes no answer, and stays stored", async (t) => {
  await using app = await mountOnReplicaSet([Thing, Kept]);
  for (const [at, [name, send]] of REQUESTS.entries()) {
    const model = /history|revert|restore/.test(name) ? Kept : Thing;
    const { collection } = getModel(model);
    const answerTo = async (values: Record<string, unknown>) => {
      await collection.deleteMany({});
      const { insertedId } = await collection.insertOne(values as never);
      const { status, text } = await send(app, String(insertedId));
      const shown = text.replaceAll(String(insertedId), "id")
        .replace(/"(at|_id)":"[^"]*"/g, (field) => /"id"|"at"/.test(field) ? "" : field);
      return [status, shown];
    };
    await t.step(name, async () => {
      const usual = await answerTo(stored());
      for (const [path, wrong] of MISFITS.filter((_, each) => each % STEP === at % STEP)) {
        const values = stored();
        put(values, path, wrong);
        assertEquals(await answerTo(values), usual, `${path} ${Deno.inspect(wrong)}`);
        const now = await collection.findOne({}) as Record<string, unknown> | null;
        const held = valueAt(now, path);
        // A removed entity or element is gone with its hidden values.
        if (held !== GONE) assertEquals(held, wrong, path);
      }
    });
  }
});

test("a revert to a visible value of a wrong type is no error of the server", async () => {
  await using app = await mountOnReplicaSet([Kept]);
  const { collection } = getModel(Kept);
  const odd: object[] = [{ map: "abc" }, { map: { toString: "x" } }, { inners: ["abc"] }];
  for (const values of odd) {
    const { insertedId } = await collection.insertOne({ ...values, __v: 0 } as never);
    const path = `/kept/${insertedId}`;
    assertEquals((await app.patch(path, { map: {}, inners: [] })).status, 200);
    const { status, text } = await app.post(`${path}/revert`, { version: 0 });
    assertEquals(status, 200, text);
    const now = await collection.findOne({ _id: insertedId });
    assertEquals({ ...now, ...values }, now);
  }
});
