import { assertEquals, assertMatch } from "@std/assert";
import mongoose from "mongoose";
import { getModel } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { until } from "../../support/until.ts";
import { as, Plan, records, SECRET, servePlans } from "./plans.ts";
import { Versions } from "./versions.ts";
import { createWritten, WAYS } from "./ways.ts";

test("every write of an entity adds one record, and the records give every version", async (t) => {
  await using app = await servePlans();
  const versions = new Versions();
  const written = await createWritten(app);
  await versions.keep();
  for (const [way, operation, added, send] of WAYS) {
    await t.step(way, async () => {
      const before = (await records()).length;
      const { status } = await send(app, written);
      assertEquals(status < 300, true, `${status}`);
      const own = (await records()).slice(before);
      assertEquals(
        own.map((each) => [each.operation, each.actor]),
        Array(added).fill([operation, "bob"]),
      );
      await versions.keep();
    });
  }
  assertEquals(await versions.judge(), 26);
  assertEquals(JSON.stringify(await records()).includes(SECRET), false);
});

test("a write that is refused adds no record", async () => {
  await using app = await servePlans();
  const { plan } = await createWritten(app);
  const before = (await records()).length;
  const refused = [
    await app.patch(plan, { state: "no" }),
    await app.patch(plan, { name: "c" }, { headers: { "if-match": '"7.0000000000000000"' } }),
    await app.post("/plans", [{ name: "d" }, {}]),
    await app.post(`${plan}/steps`, {}),
  ];
  assertEquals(refused.map(({ status }) => status), [400, 412, 400, 400]);
  assertEquals((await records()).length, before);
});

interface ShownRecord {
  readonly version: number;
  readonly at: string;
  readonly actor?: string;
  readonly operation: string;
  readonly changed: readonly string[];
  readonly before: Record<string, unknown>;
}

test("GET /:id/history has the records, newest first, as the reader may see them", async () => {
  await using app = await servePlans();
  const { _id } = await app.created("/plans", { name: "a", budget: 5 }, as("admin"));
  const path = `/plans/${_id}`;
  await app.patch(path, { name: "b", budget: 6 }, as("admin"));
  await app.patch(path, { code: "x" }, as("bob"));
  const { body, headers } = await app.get<ShownRecord[]>(`${path}/history`, as("bob"));
  assertEquals(headers.get("link"), null);
  const fields = ({ version, actor, operation, changed, before }: ShownRecord) =>
    [version, actor, operation, changed, before] as const;
  assertEquals(body.map(fields), [
    [2, "bob", "update", ["code", "changedBy"], { changedBy: "admin" }],
    [1, "admin", "update", ["name"], { name: "a" }],
    [0, "admin", "create", [], {}],
  ]);
  assertMatch(body[0]?.at ?? "", /^\d{4}-.*Z$/);
  const { body: [, second] } = await app.get<ShownRecord[]>(`${path}/history`, as("admin"));
  assertEquals([second?.changed, second?.before], [["name", "budget"], { name: "a", budget: 5 }]);
});

test("the records of an entity are read in pages", async () => {
  await using app = await servePlans();
  const { _id } = await app.created("/plans", { name: "a" });
  for (let count = 1; count <= 4; count++) await app.updated(`/plans/${_id}`, { name: `${count}` });
  const versions: number[][] = [];
  let path = `/plans/${_id}/history?limit=2`;
  while (path !== "") {
    const { body, headers } = await app.get<ShownRecord[]>(path);
    versions.push(body.map(({ version }) => version));
    path = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1] ?? "";
  }
  assertEquals(versions, [[4, 3], [2, 1], [0]]);
  for (const wrong of ["limit=0", "limit=101", "limit=x", "after=-1", "limit=1&limit=2"]) {
    assertEquals((await app.get(`/plans/${_id}/history?${wrong}`)).status, 400, wrong);
  }
  for (let count = 5; count <= 20; count++) {
    await app.updated(`/plans/${_id}`, { name: `${count}` });
  }
  const { body, headers } = await app.get<ShownRecord[]>(`/plans/${_id}/history`);
  assertEquals([body.length, body.at(-1)?.version], [20, 1]);
  assertMatch(headers.get("link") ?? "", /after=1>; rel="next"/);
});

test("a page of large records ends early", async () => {
  await using app = await servePlans();
  const large = (letter: string) => ({ notes: { text: letter.repeat(3 * 1024 * 1024) } });
  const _id = new mongoose.Types.ObjectId();
  await getModel(Plan).collection.insertOne({ _id, name: "a", __v: 0, ...large("a") } as never);
  await app.updated(`/plans/${_id}`, { notes: { text: "b" } });
  for (const letter of ["c", "d", "e"]) {
    await getModel(Plan).collection.updateOne({ _id }, { $set: large(letter) });
    await app.updated(`/plans/${_id}`, { notes: { text: letter } });
  }
  const { body, headers } = await app.get<ShownRecord[]>(`/plans/${_id}/history`);
  assertEquals(body.map(({ version }) => version), [4, 3]);
  assertMatch(headers.get("link") ?? "", /after=3>/);
});

test("an entity that was removed and created again shows only its present records", async () => {
  await using app = await servePlans();
  const path = `/plans/${new mongoose.Types.ObjectId()}`;
  await app.put(path, { name: "old" }, as("ann"));
  await app.patch(path, { name: "older" }, as("ann"));
  await app.delete(path, as("ann"));
  assertEquals((await app.get(`${path}/history`)).status, 404);
  await app.put(path, { name: "new" }, as("bob"));
  const { body } = await app.get<ShownRecord[]>(`${path}/history`);
  assertEquals(body.map(({ operation, actor }) => [operation, actor]), [["replace", "bob"]]);
  await app.patch(path, { name: "newer" }, as("bob"));
  assertEquals((await app.post(`${path}/revert`, { version: 0 })).body.name, "new");
});

test("the history is as long as `keep` says", async () => {
  await using app = await servePlans();
  await app.created("/plans", { name: "a" });
  const indexes = () => mongoose.connection.collection("plans_history").indexes();
  await until(async () => (await indexes()).length > 1);
  const keys = (await indexes()).map(({ key }) => Object.keys(key).join());
  assertEquals(keys, ["_id", "entity,version,at"]);
  assertEquals(getModel(Plan).schema.path("history"), undefined);
});
