import { assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import { all, FrameworkModel, prop, rest } from "../../../mod.ts";
import { openIndexed, sorted } from "../../fixtures/indexed.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type EntityBody } from "../../support/support.ts";

@rest({ route: "/tasks", methods: [all({ page: { max: 20 }, sort: ["rank", "name"] })] })
class Task extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @prop()
  name?: string;
  @prop({ type: Boolean })
  active?: boolean;
  static override configure(schema: Schema): void {
    schema.index({ rank: 1 }, { partialFilterExpression: { rank: { $lt: 5 } } });
    schema.index({ rank: -1, _id: 1 });
  }
}

const TASKS = Array.from({ length: 600 }, (_, n) => ({
  rank: [n % 50 - 10, n % 5, null][(n * 7) % 3],
  name: `n${n % 7}`,
  active: n % 4 === 0,
}));

test("pages lose nothing to a partial index that the database has read others from", async () => {
  await using app = await openIndexed(Task, TASKS);
  const list = await sorted(app, { rank: -1, name: 1, _id: 1 }, { active: true });
  const path = `/tasks${asQuery({ active: true })}&sort=-rank,name&after=`;
  for (const [low, high] of [[85, 6], [47, 0], [37, 24], [84, 24]] as const) {
    await mongoose.connection.db?.command({ planCacheClear: app.collection.collectionName });
    // The database keeps a plan after some pages, and takes it for others.
    for (const place of [low, low, low, high, high, high]) {
      const { body } = await app.get<EntityBody[]>(path + list[place]);
      const expected = list.slice(place + 1, place + 21);
      assertEquals([place, body.map(({ _id }) => _id)], [place, expected]);
    }
  }
});
