import { assertEquals } from "@std/assert";
import { all, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
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
