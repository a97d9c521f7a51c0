import { assertEquals } from "@std/assert";
import { FrameworkModel, getModel, prop, removeAll, rest } from "../../../mod.ts";
import type { Entity, FrameworkRequest, HooksOf, ModelClass } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

class Row extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @prop()
  text?: string;
  @prop({ type: Object })
  free?: Record<string, unknown>;
}

/** Makes a model whose removeAll() has these hooks. */
function buildRows(hooks: HooksOf<Row>): ModelClass<Row> {
  @rest({ route: "/rows", methods: [removeAll<Row>(hooks)] })
  class Rows extends Row {}
  return Rows;
}

async function seed(target: ModelClass, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, rank) => ({ rank, text: "old", free: { a: 1 } }));
  await getModel(target).collection.insertMany(rows);
}

const pass = (_req: unknown, row: Entity<Row>) => row;

test("removeAll() gives persist every entity once, in the order of the list", async () => {
  const ranks: unknown[] = [];
  const persist = (_req: unknown, row: Entity<Row>) => {
    ranks.push(row.rank);
    return row;
  };
  const preFetch = (req: FrameworkRequest) => {
    req.framework.options = { sort: { rank: -1 }, skip: 10, limit: 300 };
    return true;
  };
  const Rows = buildRows({ preFetch, preSave: pass, persist });
  await using app = await mount([Rows]);
  await seed(Rows, 500);
  assertEquals((await app.delete("/rows")).status, 204);
  assertEquals(ranks, Array.from({ length: 300 }, (_, index) => 489 - index));
});

test("removeAll() calls persist for nothing if one entity is refused", async () => {
  const given: unknown[] = [];
  const Rows = buildRows({
    preSave: (_req, row) => row.rank === 299 ? null : row,
    persist: (_req, row) => {
      given.push(row.rank);
      return row;
    },
  });
  await using app = await mount([Rows]);
  await seed(Rows, 300);
  assertEquals([(await app.delete("/rows")).status, given], [403, []]);
});

/** What a hook may do to an entity, by the rank of the row. */
const WAYS: ((row: Entity<Row>) => object)[] = [
  (row) => Object.assign(row, { text: "set" }),
  (row) => Object.assign(row, { reason: "own" }),
  (row) => {
    row.$locals.reason = "local";
    return row;
  },
  (row) => {
    if (row.free) row.free.a = 2;
    return row;
  },
  () => ({ text: "other" }),
];

test("removeAll() gives persist what its hooks have worked on, and what they gave instead", async () => {
  const given: object[] = [];
  const got: object[] = [];
  const Rows = buildRows({
    preSave: (_req, row) => {
      const ready = WAYS[Number(row.rank)]?.(row) ?? row;
      given.push(ready);
      return ready as Entity<Row>;
    },
    persist: (_req, row) => {
      got.push(row);
      return row;
    },
  });
  await using app = await mount([Rows]);
  await seed(Rows, WAYS.length);
  assertEquals((await app.delete("/rows")).status, 204);
  assertEquals(got.map((row, index) => row === given[index]), WAYS.map(() => true));
});
