import { assertEquals } from "@std/assert";
import type { Query, Schema } from "mongoose";
import { all, FrameworkModel, getModel, one, prop, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, mount } from "../../support/support.ts";

@rest({ route: "/notes", methods: [all({ page: { max: 5 }, sort: ["rank"] }), one()] })
class Note extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.pre(/^find/, function (this: Query<unknown, unknown>) {
      this.where({ gone: { $ne: true } });
    });
  }
  @prop({ type: Number })
  rank?: number;
  @prop({ type: Boolean })
  gone?: boolean;
}

test("after an entity that middleware hides is refused, as after one that is not there", async () => {
  await using app = await mount([Note]);
  const { insertedIds } = await getModel(Note).collection.insertMany(
    [1, 2, 3].map((rank) => ({ rank, gone: rank === 2 })),
  );
  const [first, hidden] = Object.values(insertedIds);
  const after = (id: unknown) => app.get<EntityBody[]>(`/notes?sort=rank&after=${id}`);
  assertEquals((await app.get(`/notes/${hidden}`)).status, 404);
  assertEquals((await after(first)).body.map(({ rank }) => rank), [3]);
  const [known, unknown] = [await after(hidden), await after("f".repeat(24))];
  assertEquals([known.status, known.body], [400, unknown.body]);
});
