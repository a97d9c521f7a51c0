import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  type ReadOnly,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { mount, type Mounted } from "../support/support.ts";

/** Runs once, between the read and the write of the request that comes first. */
let between: (() => Promise<unknown>) | undefined;

async function meet<T>(_req: unknown, entity: T): Promise<T> {
  const work = between;
  between = undefined;
  await work?.();
  return entity;
}

/** The values of `n` that the hook `preSend` has got. */
const sent: unknown[] = [];

class Line extends FrameworkModel {
  @prop({ type: Number })
  n?: number;
  @prop()
  s?: string;
  @prop({ stamp: "updatedBy" })
  readonly by?: ReadOnly<string>;
}

const LINES = [
  all(),
  one(),
  create<Line>({ preSave: meet }),
  update<Line>({
    preSave: meet,
    preSend: (_req, line) => {
      sent.push(line.n);
      return line;
    },
  }),
  updateAll<Line>({ fields: ["n", "s"], preSave: meet }),
  action<Line>("shout", {
    on: "one",
    run: async (req, line: Entity<Line>) => {
      await meet(req, line);
      line.s = "!";
      await line.save();
      line.s += "!";
      await line.save();
      return line;
    },
  }),
];

class Box extends FrameworkModel {
  @rest({ methods: LINES })
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
}

class Order extends FrameworkModel {
  @prop()
  name?: string;
  @rest({ methods: LINES })
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
  @rest({ methods: [one()] })
  @prop({ type: Box })
  box?: Box;
  @rest({ methods: [one(), update<Line>({ preSave: meet })] })
  @prop({ type: Line })
  only?: Line;
  @prop({ stamp: "updatedBy" })
  readonly by?: ReadOnly<string>;
}

@rest({ route: "/orders", methods: [one(), update()] })
class Alone extends Order {}

@rest({
  route: "/orders",
  methods: [one(), update()],
  scope: () => ({ $expr: { $gte: ["$__v", 0] } }),
})
class Scoped extends Order {}

@rest({ route: "/orders", methods: [one(), update()], history: true })
class Recorded extends Order {}

const line = () => ({ _id: new mongoose.Types.ObjectId(), n: 1, s: "a", by: "ann" });

function stored() {
  const _id = new mongoose.Types.ObjectId();
  const box = { _id: new mongoose.Types.ObjectId(), lines: [line(), line()] };
  return { _id, __v: 0, name: "a", lines: [line(), line()], box, only: line(), by: "ann" };
}

const as = (user: string) => ({ headers: { "x-user": user } });

const KINDS: readonly (readonly [kind: string, model: ModelClass<Order>])[] = [
  ["alone", Alone],
  ["with a scope that no filter expresses", Scoped],
  ["with a history", Recorded],
];

/** What a request sets, what another sets meanwhile, and what is left. */
const RACES: readonly (readonly [body: object, other: object, left: object])[] = [
  [{ n: 1 }, { n: 2 }, { n: 1, s: "a" }],
  [{ s: "b" }, { n: 3 }, { n: 3, s: "b" }],
];

async function serve(model: ModelClass<Order>): Promise<Mounted> {
  const mongo = await sharedReplicaSet();
  return await mount([model], { mongo, actor: (req) => req.get("x-user") });
}

async function raceAt(app: Mounted, { root, path }: Record<"root" | "path", string>) {
  for (const [body, other, left] of RACES) {
    between = async () => {
      await app.updated(path, other, as("bob"));
      await app.updated(root, { name: "b" }, as("bob"));
      sent.length = 0;
    };
    const { status, text, headers } = await app.patch(path, body, as("ann"));
    assertEquals(status, 200, text);
    const shown = await app.get(path);
    assertEquals([text, headers.get("etag")], [shown.text, shown.headers.get("etag")], path);
    const json = JSON.parse(text);
    assertEquals(json, { ...json, ...left, by: "ann" });
    assertEquals(sent, sent.map(() => json.n));
    assertEquals((await app.read<{ by: string }>(root)).by, "ann");
  }
}

for (const [kind, model] of KINDS) {
  test(`a part is written and shown as its statement has stored it, ${kind}`, async () => {
    await using app = await serve(model);
    const order = stored();
    await getModel(model).collection.insertOne(order as never);
    const root = `/orders/${order._id}`;
    for (
      const path of [
        `${root}/lines/${order.lines[1]?._id}`,
        `${root}/box/lines/${order.box.lines[1]?._id}`,
        `${root}/only`,
      ]
    ) await raceAt(app, { root, path });
  });

  test(`actions, creations and updates of many lines meet other writes, ${kind}`, async () => {
    await using app = await serve(model);
    const order = stored();
    await getModel(model).collection.insertOne(order as never);
    const lines = `/orders/${order._id}/lines`;
    const path = `${lines}/${order.lines[0]?._id}`;
    const rename = () => app.updated(`/orders/${order._id}`, { name: "b" }, as("bob"));

    between = rename;
    const made = await app.post(lines, { n: 5 });
    assertEquals(made.status, 201, made.text);
    const created = await app.get(`${lines}/${made.body._id}`);
    assertEquals(made.headers.get("etag"), created.headers.get("etag"));

    between = () => app.updated(path, { n: 2 }, as("bob"));
    const many = await app.patch(`${lines}?q={}`, { n: 1 }, as("ann"));
    assertEquals(many.status, 200, many.text);
    const all = await app.read<{ n: number }[]>(lines);
    assertEquals(all.map(({ n }) => n), [1, 1, 1]);

    const shouted = await app.post(`${path}/shout`, {}, as("ann"));
    assertEquals(shouted.status, 200, shouted.text);
    const shown = await app.get(path);
    assertEquals([shouted.text, shouted.headers.get("etag")], [
      shown.text,
      shown.headers.get("etag"),
    ]);
  });
}
