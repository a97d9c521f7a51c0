import { assertEquals } from "@std/assert";
import type { Express } from "express-types";
import { all, Framework, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount } from "../support/support.ts";

class Score extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop({ type: Number })
  total?: number;
}

@rest({ route: "/matches", methods: [all({ filter: ["scores.total"] })] })
class Match extends FrameworkModel {
  @prop({ type: Map, of: Score })
  scores?: Map<string, Score>;
}

test("a key of a Map that is a number is no position: a filter that does not list it refuses it", async () => {
  await using app = await mount([Match]);
  await getModel(Match).create({ scores: new Map([["7", { total: 8 } as Score]]) });
  for (const key of ["x", "7"]) {
    const { status } = await app.get(`/matches${asQuery({ [`scores.${key}.total`]: 8 })}`);
    assertEquals([key, status], [key, 400]);
  }
});

@rest({ route: "/tasks", methods: [all()] })
class Task extends FrameworkModel {
  @prop()
  owner?: string;
}

test('queryFor() refuses every path with paths: "listed", as no operation lists any', async () => {
  const queryLimits = { paths: "listed" } as const;
  const prepare = (host: Express) =>
    void host.get("/count", async (req, res) => {
      const { filter, model } = await Framework.queryFor(req, Task, {
        limits: { query: queryLimits },
      });
      res.json(await model.countDocuments(filter));
    });
  await using app = await mount([Task], { prepare });
  await getModel(Task).create({ owner: "ann" });
  assertEquals((await app.get(`/count${asQuery({ owner: "ann" })}`)).status, 400);
  assertEquals(await app.read<unknown>("/count"), 1);
});
