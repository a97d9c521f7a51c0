import { assertEquals } from "@std/assert";
import { getModel } from "../../../mod.ts";
import { follow } from "../../../src/changes/mod.ts";
import { test } from "../../harness/testing.ts";
import { until } from "../../support/until.ts";
import { openLive } from "../live/live.ts";
import { Person, recordsOf, serveAll, storedOf } from "./projects.ts";

test("a write that refers to an entity changes nothing of the entity", async () => {
  await using app = await serveAll();
  const { _id } = await app.created("/people", { name: "a" });
  const before = await app.get(`/people/${_id}`);
  const stored = await storedOf(Person, _id);
  await app.created("/projects", { owner: _id });
  const project = await app.created("/projects", {});
  assertEquals((await app.patch(`/projects/${project._id}`, { owner: _id })).status, 200);
  const after = await app.get(`/people/${_id}`);
  assertEquals([after.body, after.headers.get("etag")], [before.body, before.headers.get("etag")]);
  assertEquals(await storedOf(Person, _id), stored);
  assertEquals((await recordsOf(Person, _id)).length, 1);
});

test("live lists and followers of changes get no event of a write that refers to the entity", async () => {
  await using app = await serveAll();
  const { _id } = await app.created("/people", { name: "a" });
  const events: unknown[] = [];
  const follower = follow(Person, {
    name: "touches",
    handle: ({ kind }) => void events.push(kind),
  });
  await until(async () => await follower.lag() !== undefined);
  const raw: string[] = [];
  const stream = getModel(Person).collection.watch();
  stream.on(
    "change",
    ({ operationType }: { operationType: string }) => void raw.push(operationType),
  );
  await using live = await openLive(`${app.url}/people`);
  await live.ready();
  live.taken();
  await app.created("/projects", { owner: _id });
  await until(() => raw.length >= 2);
  assertEquals(live.taken(), "");
  await app.patch(`/people/${_id}`, { name: "b" });
  await until(() => events.length > 0);
  await follower.stop();
  await stream.close();
  assertEquals([events, raw], [["update"], ["update", "update", "update"]]);
});

/** Returns the number of transactions that requests commit. */
async function transactionsOf(send: () => Promise<unknown>): Promise<number> {
  const admin = getModel(Person).db.db?.admin();
  const count = async () => {
    const status = await admin?.serverStatus();
    return Number(status?.transactions.totalCommitted);
  };
  const before = await count();
  await send();
  return await count() - before;
}

test("only writes that need a transaction have one", async () => {
  await using app = await serveAll();
  const { _id: owner } = await app.created("/people", { name: "a" });
  const { _id: other } = await app.created("/people", { name: "b" });
  const { _id: project } = await app.created("/projects", { owner });
  const { _id: task } = await app.created("/tasks", { project });
  const { _id: tag } = await app.created("/tags", {});
  const { _id: note } = await app.created("/notes", {});
  const sent: [number, () => Promise<unknown>][] = [
    [0, () => app.patch(`/projects/${project}`, { name: "b" })],
    [1, () => app.patch(`/projects/${project}`, { owner: other })],
    [0, () => app.patch(`/tags/${tag}`, { name: "b" })],
    [0, () => app.delete(`/notes/${note}`)],
    [1, () => app.post("/notes", { task })],
    [1, () => app.delete(`/tags/${tag}`)],
    [1, () => app.delete(`/projects/${project}`)],
  ];
  for (const [count, send] of sent) assertEquals(await transactionsOf(send), count, String(send));
});
