import { assertEquals } from "@std/assert";
import {
  create,
  FrameworkModel,
  one,
  prop,
  type ReadOnly,
  rest,
  type Restricted,
} from "../../../mod.ts";
import { startMongo } from "../../harness/mongo/start_mongo.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";

@rest({ route: "/memos", methods: [one(), create()], history: true })
class Memo extends FrameworkModel {
  @prop({ stamp: "createdBy", hidden: (req) => req.headers["x-user"] !== "boss" })
  readonly author?: Restricted<ReadOnly<string>>;
}

test("a history shows no sender to readers from whom a field with a stamp is hidden", async () => {
  await using mongo = await startMongo({ replicaSet: 1 });
  const actor = ({ headers }: { headers: Record<string, unknown> }) => String(headers["x-user"]);
  await using app = await mount([Memo], { mongo: mongo.uri, actor: (req) => actor(req) });
  const { _id } = await app.created("/memos", {}, { headers: { "x-user": "ann" } });
  const actors: unknown[] = [];
  for (const user of ["boss", "bob"]) {
    const { body } = await app.get<{ actor?: string }[]>(`/memos/${_id}/history`, {
      headers: { "x-user": user },
    });
    actors.push(body.map((record) => record.actor));
  }
  assertEquals(actors, [["ann"], [undefined]]);
});
