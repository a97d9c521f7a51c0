import { assertEquals } from "@std/assert";
import type { Query, Schema } from "mongoose";
import {
  all,
  FrameworkModel,
  getModel,
  type ModelClass,
  prop,
  removeAll,
  rest,
  type RestOptions,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type EntityBody, mount } from "../support/support.ts";

type AnyQuery = Query<unknown, unknown>;

/** Makes a class whose middleware hides entities from the given operations of Mongoose. */
function hiding(
  operations: RegExp,
  options: Partial<Pick<RestOptions, "trash">> = {},
  condition: object = { gone: { $ne: true } },
): ModelClass {
  @rest({
    route: "/notes",
    methods: [all<Note>({ page: { max: 2 }, sort: ["rank"], count: {} }), removeAll()],
    ...options,
  })
  class Note extends FrameworkModel {
    static override configure(schema: Schema): void {
      schema.pre(operations as never, function (this: AnyQuery) {
        this.where(condition);
      });
    }
    @prop({ type: Number })
    rank?: number;
    @prop({ type: Boolean })
    gone?: boolean;
  }
  return Note;
}

async function seed(target: ModelClass): Promise<void> {
  await getModel(target).collection.insertMany(
    [1, 2, 3, 4, 5].map((rank) => ({ rank, gone: rank > 3 })),
  );
}

async function ranksOf(target: ModelClass, filter: object = {}): Promise<unknown[]> {
  const found = await getModel(target).collection.find(filter, { sort: { rank: 1 } }).toArray();
  return found.map(({ rank }) => rank);
}

const EXACT = { headers: { prefer: "count=exact" } };

test("the total of a list does not count what middleware of find() hides", async () => {
  for (const operations of [/^find/, /^(find|countDocuments)/]) {
    const target = hiding(operations);
    await using app = await mount([target]);
    await seed(target);
    const list = await app.get<EntityBody[]>("/notes?sort=rank", EXACT);
    assertEquals(list.body.map(({ rank }) => rank), [1, 2]);
    assertEquals(list.headers.get("x-total-count"), "3");
    const some = await app.get(`/notes${asQuery({ rank: { $gt: 2 } })}`, EXACT);
    assertEquals(some.headers.get("x-total-count"), "1");
  }
});

test("the total of a list has a condition of middleware that no aggregation takes", async () => {
  const target = hiding(/^find/, {}, { $where: "this.gone !== true" });
  await using app = await mount([target]);
  await seed(target);
  const { status, headers } = await app.get("/notes", EXACT);
  assertEquals([status, headers.get("x-total-count")], [200, "3"]);
});

test("removeAll() keeps what middleware of find() hides", async () => {
  for (const operations of [/^find/, /^(find|deleteMany)/]) {
    const target = hiding(operations);
    await using app = await mount([target]);
    await seed(target);
    assertEquals((await app.delete(`/notes${asQuery({ rank: { $gt: 2 } })}`)).status, 204);
    assertEquals(await ranksOf(target), [1, 2, 4, 5]);
    assertEquals((await app.delete("/notes")).status, 204);
    assertEquals(await ranksOf(target), [4, 5]);
  }
});

test("a removal into the trash leaves out what middleware of find() hides", async () => {
  const target = hiding(/^(find|deleteMany)/, { trash: {} });
  await using app = await mount([target]);
  await seed(target);
  assertEquals((await app.delete("/notes")).status, 204);
  assertEquals(await ranksOf(target, { deletedAt: { $ne: null } }), [1, 2, 3]);
});
