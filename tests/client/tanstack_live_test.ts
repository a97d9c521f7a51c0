import { assert, assertEquals, assertRejects } from "@std/assert";
import { createCollection } from "@tanstack/db";
import { ApiError, connect } from "@mongrove/mongrove/client";
import { collectionOptions, temporaryId } from "@mongrove/mongrove/tanstack";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { type Errand, keyOf, type Line, serveErrands, shows, textsOf, watch } from "./errands.ts";

const errand = (text: string) => ({ _id: temporaryId(), text, done: false });

test("a live collection shows the changes of others, also those during the first list", async () => {
  await using served = await serveErrands();
  const { app } = served;
  const { _id } = await app.created("/errands", { text: "A" });
  await using tab = await served.open();
  await app.created("/errands", { text: "B" });
  await shows(tab.collection, "A", "B");
  await app.updated(`/errands/${_id}`, { done: true });
  await shows(tab.collection, "A ✓", "B");
  await app.delete(`/errands/${_id}`);
  await shows(tab.collection, "B");
  const opening = served.open();
  const more = Array.from({ length: 20 }, (_, index) => `C${index}`);
  for (const text of more) await app.created("/errands", { text });
  await using late = await opening;
  for (const { collection } of [tab, late]) await shows(collection, "B", ...more);
});

test("a list with pages is read as a whole, or one page of it with limit", async () => {
  await using served = await serveErrands();
  for (const text of ["A", "B", "C", "D", "E"]) await served.app.created("/paged", { text });
  await using tab = await served.open({ path: "/paged" });
  assertEquals(textsOf(tab.collection), ["A", "B", "C", "D", "E"]);
  await using page = await served.open({ path: "/paged", query: { limit: 3 } });
  assertEquals(textsOf(page.collection), ["A", "B", "C"]);
  await using found = await served.open({ path: "/paged", query: { q: { text: { $gt: "C" } } } });
  assertEquals(textsOf(found.collection), ["D", "E"]);
});

test("refetch() shows the list, and keeps what was written during the reading", async () => {
  await using served = await serveErrands();
  const { _id } = await served.app.created("/errands", { text: "A" });
  await using tab = await served.open({ live: false });
  const { collection, line } = tab;
  await served.app.created("/errands", { text: "B" });
  await served.app.updated(`/errands/${_id}`, { done: true });
  assertEquals(textsOf(collection), ["A"]);
  await collection.utils.refetch();
  assertEquals(textsOf(collection), ["A ✓", "B"]);
  line.after = async ({ method }) => {
    if (method !== "GET") return;
    line.after = () => {};
    await collection.insert(errand("C")).isPersisted.promise;
    await collection.delete(_id).isPersisted.promise;
  };
  await Promise.all([collection.utils.refetch(), collection.utils.refetch()]);
  assertEquals(textsOf(collection), ["B", "C"]);
  await collection.utils.refetch();
  assertEquals(textsOf(collection), ["B", "C"]);
});

test("of two refetch() calls that overlap, the later one wins", async () => {
  await using served = await serveErrands();
  await served.app.created("/errands", { text: "A" });
  await using tab = await served.open({ live: false });
  const { collection, line } = tab;
  const held = Promise.withResolvers<void>();
  line.after = () => {
    line.after = () => {};
    return held.promise;
  };
  const first = collection.utils.refetch();
  await until(() => line.sent.length === 2);
  await served.app.get("/errands");
  await served.app.created("/errands", { text: "B" });
  await collection.utils.refetch();
  held.resolve();
  await first;
  assertEquals(textsOf(collection), ["A", "B"]);
});

test("an entity that leaves the filter by an own update leaves the collection", async () => {
  await using served = await serveErrands();
  const { _id } = await served.app.created("/errands", { text: "A" });
  const options = { live: true, query: { q: { done: false } } };
  await using tab = await served.open(options);
  const { collection, line } = tab;
  // The event comes before the answer
  line.after = async ({ method }) => {
    if (method === "PATCH") await until(() => other.collection.size === 0);
  };
  await using other = await served.open(options);
  await collection.update(_id, (draft) => void (draft.done = true)).isPersisted.promise;
  await shows(collection);
  line.after = () => {};
  const { _id: second } = await served.app.created("/errands", { text: "B" });
  await shows(collection, "B");
  await collection.update(second, (draft) => void (draft.done = true)).isPersisted.promise;
  await shows(collection);
});

test("an entity that was created outside of the filter leaves the collection", async () => {
  await using served = await serveErrands();
  await using tab = await served.open({ live: true, query: { q: { done: false } } });
  await tab.collection.insert({ ...errand("A"), done: true }).isPersisted.promise;
  await shows(tab.collection);
});

test("a created entity that was removed by somebody at once leaves the collection", async () => {
  await using served = await serveErrands();
  await using tab = await served.open();
  tab.line.after = async ({ method }, answer) => {
    if (method !== "POST") return;
    const { _id } = await answer.clone().json();
    await served.app.delete(`/errands/${_id}`);
    await served.app.created("/errands", { text: "B" });
  };
  await tab.collection.insert(errand("A")).isPersisted.promise;
  await shows(tab.collection, "B");
});

test("rows that are changed and removed before their events come do not come back", async () => {
  await using served = await serveErrands();
  await using tab = await served.open();
  const { collection } = tab;
  for (let round = 0; round < 40; round++) {
    const busy = Array.from({ length: round % 12 }, () => served.app.get("/errands"));
    await collection.insert([errand("A"), errand("B")]).isPersisted.promise;
    assertEquals(textsOf(collection), ["A", "B"], `created ${round}`);
    const keys = ["A", "B"].map((text) => keyOf(collection, text));
    const finish = (drafts: { done: boolean }[]) => drafts.forEach((each) => each.done = true);
    await collection.update(keys, finish).isPersisted.promise;
    assertEquals(textsOf(collection), ["A ✓", "B ✓"], `updated ${round}`);
    await collection.delete(keys).isPersisted.promise;
    assertEquals(textsOf(collection), [], `removed ${round}`);
    await Promise.all(busy);
  }
});

test("after a lost connection, the collection loses what has vanished, and gets what has come", async () => {
  await using served = await serveErrands();
  const { app } = served;
  for (const text of ["A", "B", "C"]) await app.created("/errands", { text });
  const lost: unknown[] = [];
  await using tab = await served.open({ live: true, onDisconnect: (error) => lost.push(error) });
  const { collection, line } = tab;
  const [a, b] = ["A", "B"].map((text) => keyOf(collection, text));
  line.cut();
  await until(() => lost.length > 0);
  await app.delete(`/errands/${a}`);
  await app.updated(`/errands/${b}`, { done: true });
  await app.created("/errands", { text: "D" });
  assertEquals(textsOf(collection), ["A", "B", "C"]);
  line.mend();
  await shows(collection, "B ✓", "C", "D");
});

test("a row that is created while the live list is without connection stays", async () => {
  await using served = await serveErrands();
  const lost: unknown[] = [];
  await using tab = await served.open({ live: true, onDisconnect: (error) => lost.push(error) });
  const { collection, line } = tab;
  const seen = watch(collection);
  line.before = ({ method }) => {
    if (method === "GET") throw new TypeError("No list");
  };
  line.cut();
  line.mend();
  await until(() => lost.length > 0);
  await collection.insert(errand("A")).isPersisted.promise;
  await until(() => lost.length > 2);
  line.before = () => {};
  await served.app.created("/errands", { text: "B" });
  await shows(collection, "A", "B");
  assertEquals([...new Set(seen)], ["A", "A,B"]);
});

test("cleanup() ends the live list, and the collection can begin again", async () => {
  await using served = await serveErrands();
  await served.app.created("/errands", { text: "A" });
  await using tab = await served.open();
  const { collection, line } = tab;
  await collection.cleanup();
  await until(() => line.ended === 1);
  await served.app.created("/errands", { text: "B" });
  assertEquals([collection.status, line.sent.length], ["cleaned-up", 1]);
  await collection.preload();
  assertEquals([textsOf(collection), line.ended], [["A", "B"], 1]);
});

test("a list that cannot be read rejects preload() with the server's error", async () => {
  await using served = await serveErrands();
  for (const live of [true, false]) {
    const resource = connect(served.app.url).resource<Errand>("/nowhere");
    const collection = createCollection(collectionOptions(resource, { live }));
    const error = await assertRejects(() => collection.preload(), ApiError);
    assertEquals([error.status, collection.status], [404, "error"]);
    await collection.cleanup();
  }
});

test("options belong to one collection", async () => {
  await using served = await serveErrands();
  const resource = connect(served.app.url).resource<Errand>("/errands");
  const options = collectionOptions(resource, { live: true });
  const [first, second] = [createCollection(options), createCollection(options)];
  await first.preload();
  await assertRejects(() => second.preload(), Error, "the options belong to another collection");
  await first.cleanup();
  await second.cleanup();
});

test("collectionOptions() refuses names that it does not know", () => {
  const resource = connect("https://example.org").resource<Errand>("/errands");
  const wrong = [{ lives: true }, { query: { select: ["text"] } }, { query: { after: "a" } }];
  for (const options of wrong) {
    const call = () => collectionOptions(resource, options as object);
    const [name] = Object.keys(Object.values(options)[0] as object);
    try {
      call();
      assert(false, JSON.stringify(options));
    } catch (error) {
      const text = `Cannot make a collection: there is no option "${name ?? "lives"}"`;
      assertEquals([error instanceof TypeError, (error as Error).message], [true, text]);
    }
  }
});

/** Changes a collection at random, as a user does, and returns the number of refused changes. */
async function changeAtRandom(
  { collection, line }: { collection: Parameters<typeof textsOf>[0]; line: Line },
): Promise<number> {
  const below = (most: number) => Math.floor(Math.random() * most);
  const changes: Promise<unknown>[] = [];
  for (let round = 0; round < 60; round++) {
    const rows = collection.toArray;
    const row = rows[below(rows.length)];
    const text = `T${below(20)}`;
    const change = !row || below(3) === 0
      ? collection.insert(errand(text))
      : below(4) === 0
      ? collection.delete(row._id)
      : collection.update(row._id, (draft) => {
        draft.text = below(9) === 0 ? "" : text;
        draft.done = !draft.done;
      });
    changes.push(change.isPersisted.promise);
    if (round % 20 === 10) line.cut();
    if (round % 20 === 13) line.mend();
    await new Promise((resolve) => setTimeout(resolve, below(15)));
  }
  line.mend();
  const results = await Promise.allSettled(changes);
  return results.filter(({ status }) => status === "rejected").length;
}

test("two collections under random changes and lost connections end equal to the server", async () => {
  await using served = await serveErrands();
  await using one = await served.open();
  await using two = await served.open();
  const refused = await Promise.all([one, two].map(changeAtRandom));
  const stored = await served.app.read<{ _id: string; __v: number }[]>("/errands");
  const wanted = new Map(stored.map((entity) => [entity._id, entity]));
  for (const { collection } of [one, two]) {
    const isEqual = () => {
      const rows = new Map(collection.toArray.map((row) => [row._id, row.__v]));
      return rows.size === wanted.size && stored.every(({ _id, __v }) => rows.get(_id) === __v);
    };
    await until(isEqual, { seconds: 40 });
    for (const [key, entity] of wanted) {
      const row = Object.entries(collection.get(key) ?? {}).filter(([name]) => name[0] !== "$");
      assertEquals(Object.fromEntries(row), entity);
    }
  }
  assert(refused.every((count) => count < 60), `${refused} changes were refused`);
});
