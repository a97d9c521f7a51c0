import { assert, assertEquals, assertRejects } from "@std/assert";
import { createTransaction } from "@tanstack/db";
import { ApiError } from "@mongrove/mongrove/client";
import { type Row, temporaryId } from "@mongrove/mongrove/tanstack";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { type ChosenErrand, keyOf, serveErrands, shows, textsOf, watch } from "./errands.ts";

const errand = (text: string) => ({ _id: temporaryId(), text, done: false });

/** The fields of a request that the server knows a write by. */
const PRECONDITION = "if-match";

for (const live of [true, false]) {
  const list = live ? "a live list" : "a list";

  test(`a new row of ${list} shows at once, and gets its entity without flickering`, async () => {
    await using served = await serveErrands();
    await using tab = await served.open({ live });
    const { collection, line } = tab;
    const seen = watch(collection);
    const row = errand("Buy milk");
    const { isPersisted, mutations } = collection.insert(row);
    assertEquals(textsOf(collection), ["Buy milk"]);
    await isPersisted.promise;
    const [shown] = collection.toArray;
    assertEquals([shown?.text, shown?.__v, collection.size], ["Buy milk", 0, 1]);
    assert(shown?._id !== row._id);
    await served.app.created("/errands", { text: "Another" });
    if (!live) await collection.utils.refetch();
    await shows(collection, "Another", "Buy milk");
    assertEquals([...new Set(seen)], ["Buy milk", "Another,Buy milk"]);
    const [{ body, headers } = {}] = line.writes;
    assertEquals(body, { text: "Buy milk", done: false });
    assertEquals(headers?.get("idempotency-key"), mutations[0]?.mutationId);
  });

  test(`an update in ${list} sends the changed fields, bound to the version`, async () => {
    await using served = await serveErrands();
    const place = { city: "Rome", street: "Via A" };
    const { _id } = await served.app.created("/errands", { text: "A", note: "n", spot: place });
    await using tab = await served.open({ live });
    const { collection, line } = tab;
    const seen = watch(collection);
    const { isPersisted } = collection.update(_id, (draft) => {
      draft.done = true;
      delete draft.note;
      if (draft.spot) delete draft.spot.street;
    });
    assertEquals(textsOf(collection), ["A ✓"]);
    await isPersisted.promise;
    const [{ method, headers, body } = {}] = line.writes;
    assertEquals([method, headers?.get(PRECONDITION)], ["PATCH", '"0"']);
    assertEquals(body, { done: true, note: null, spot: { street: null } });
    await collection.update(_id, (draft) => void (draft.text = "B")).isPersisted.promise;
    assertEquals(line.writes[1]?.headers.get(PRECONDITION), '"1"');
    assertEquals([...new Set(seen)], ["A ✓", "B ✓"]);
    const { _id: _same, ...stored } = await served.app.read(`/errands/${_id}`);
    assertEquals(stored, { text: "B", done: true, spot: { city: "Rome" }, __v: 2 });
    assertEquals(collection.get(_id)?.__v, 2);
  });

  test(`a removal in ${list} is bound to the version`, async () => {
    await using served = await serveErrands();
    const { _id } = await served.app.created("/errands", { text: "A" });
    await using tab = await served.open({ live });
    const seen = watch(tab.collection);
    const { isPersisted } = tab.collection.delete(_id);
    assertEquals(tab.collection.size, 0);
    await isPersisted.promise;
    assertEquals([tab.collection.size, [...new Set(seen)]], [0, [""]]);
    const [{ method, headers } = {}] = tab.line.writes;
    assertEquals([method, headers?.get(PRECONDITION)], ["DELETE", '"0"']);
  });

  test(`a change in ${list} that the server refuses is rolled back with its error`, async () => {
    await using served = await serveErrands();
    const { _id } = await served.app.created("/errands", { text: "A" });
    await using tab = await served.open({ live });
    const { collection } = tab;
    const long = "x".repeat(21);
    const inserted = collection.insert(errand(long)).isPersisted.promise;
    const updated = collection.update(_id, (draft) => void (draft.text = long)).isPersisted.promise;
    assertEquals(textsOf(collection), [long, long]);
    for (const change of [inserted, updated]) {
      const error = await assertRejects(() => change, ApiError);
      assertEquals([error.status, error.errors.text?.kind], [400, "maxlength"]);
    }
    assertEquals(textsOf(collection), ["A"]);
    await collection.update(_id, (draft) => void (draft.text = "B")).isPersisted.promise;
    assertEquals(textsOf(collection), ["B"]);
  });

  test(`a change in ${list} of what another client has changed shows the other change`, async () => {
    await using served = await serveErrands();
    const { _id } = await served.app.created("/errands", { text: "A" });
    await using tab = await served.open({ live });
    const { collection, line } = tab;
    line.before = async ({ method }) => {
      if (method !== "PATCH" && method !== "DELETE") return;
      line.before = () => {};
      await served.app.updated(`/errands/${_id}`, { text: "Other" });
    };
    const change = () => collection.update(_id, (draft) => void (draft.done = true));
    const error = await assertRejects(() => change().isPersisted.promise, ApiError);
    assertEquals([error.code, textsOf(collection)], ["PRECONDITION_FAILED", ["Other"]]);
    await change().isPersisted.promise;
    assertEquals(textsOf(collection), ["Other ✓"]);
  });

  test(`a change in ${list} of an entity that is gone removes its row`, async () => {
    await using served = await serveErrands();
    const { _id } = await served.app.created("/errands", { text: "A" });
    await using tab = await served.open({ live });
    const { collection, line } = tab;
    line.before = async ({ method }) => {
      if (method === "DELETE") await served.app.delete(`/errands/${_id}`);
    };
    const error = await assertRejects(() => collection.delete(_id).isPersisted.promise, ApiError);
    assertEquals(error.status, 404);
    await shows(collection);
  });
}

test("changes of one row are sent one after the other, each with the version before", async () => {
  await using served = await serveErrands();
  await using tab = await served.open();
  const { collection, line } = tab;
  const row = errand("A");
  const all = [collection.insert(row)];
  for (const text of ["B", "C"]) {
    all.push(collection.update(row._id, (draft) => void (draft.text = text)));
  }
  all.push(collection.update(row._id, (draft) => void (draft.done = true)));
  await Promise.all(all.map(({ isPersisted }) => isPersisted.promise));
  assertEquals(textsOf(collection), ["C ✓"]);
  const key = keyOf(collection, "C");
  assertEquals(
    line.writes.map(({ path, body, headers }) => [path, body, headers.get(PRECONDITION)]),
    [
      ["/errands", { text: "A", done: false }, null],
      [`/errands/${key}`, { text: "B" }, '"0"'],
      [`/errands/${key}`, { text: "C" }, '"1"'],
      [`/errands/${key}`, { done: true }, '"2"'],
    ],
  );
  await collection.delete(key).isPersisted.promise;
});

test("after a refused change, later changes of the row are sent, but not of a row without entity", async () => {
  await using served = await serveErrands();
  const { _id } = await served.app.created("/errands", { text: "A" });
  await using tab = await served.open();
  const { collection, line } = tab;
  const refused = collection.update(_id, (draft) => void (draft.text = ""));
  const later = collection.update(_id, (draft) => void (draft.done = true));
  await assertRejects(() => refused.isPersisted.promise, ApiError);
  await later.isPersisted.promise;
  assertEquals(textsOf(collection), ["A ✓"]);
  const row = errand("");
  const insert = collection.insert(row);
  const update = collection.update(row._id, (draft) => void (draft.done = true));
  const sent = line.writes.length;
  await assertRejects(() => insert.isPersisted.promise, ApiError);
  await assertRejects(() => update.isPersisted.promise, Error, "it was not created");
  assertEquals([line.writes.length - sent, textsOf(collection)], [1, ["A ✓"]]);
});

test("a creation whose answer is lost is repeated with the same key", async () => {
  await using served = await serveErrands();
  await using tab = await served.open();
  const { collection, line } = tab;
  line.after = ({ method }) => {
    if (method !== "POST") return;
    line.after = () => {};
    throw new TypeError("The connection is lost");
  };
  await collection.insert(errand("A")).isPersisted.promise;
  const keys = line.writes.map(({ headers }) => headers.get("idempotency-key"));
  assertEquals([keys.length, new Set(keys).size], [2, 1]);
  assertEquals((await served.app.read<unknown[]>("/errands")).length, 1);
});

test("without a connection, a change is rolled back", async () => {
  await using served = await serveErrands();
  const { _id } = await served.app.created("/errands", { text: "A" });
  await using tab = await served.open();
  const { collection, line } = tab;
  line.cut();
  const changes = [collection.insert(errand("B")), collection.delete(_id)];
  for (const { isPersisted } of changes) {
    await assertRejects(() => isPersisted.promise, TypeError, "The line is cut");
  }
  assertEquals(textsOf(collection), ["A"]);
});

test("persist() sends the changes of a transaction in their order, up to a refused one", async () => {
  await using served = await serveErrands();
  const { _id } = await served.app.created("/errands", { text: "A" });
  await using tab = await served.open();
  await using other = await served.open();
  const { collection } = tab;
  const transact = (texts: readonly string[]) => {
    const transaction = createTransaction({
      mutationFn: async ({ transaction }) => {
        await collection.utils.persist(transaction);
        await other.collection.utils.persist(transaction);
      },
    });
    return transaction.mutate(() => {
      for (const text of texts) collection.insert(errand(text));
      collection.update(_id, (draft) => void (draft.done = !draft.done));
      other.collection.insert(errand("Other"));
    }).isPersisted.promise;
  };
  await transact(["B", "C"]);
  for (const each of [tab, other]) await shows(each.collection, "A ✓", "B", "C", "Other");
  await assertRejects(() => transact(["D", "", "E"]), ApiError);
  for (const each of [tab, other]) await shows(each.collection, "A ✓", "B", "C", "D", "Other");
  assertEquals(tab.line.writes.length, 5);
});

test("several rows are changed by one call", async () => {
  await using served = await serveErrands();
  await using tab = await served.open();
  const { collection } = tab;
  await collection.insert([errand("A"), errand("B")]).isPersisted.promise;
  const keys = [keyOf(collection, "A"), keyOf(collection, "B")];
  const finish = collection.update(keys, (drafts) => {
    for (const draft of drafts) draft.done = true;
  });
  await finish.isPersisted.promise;
  assertEquals(textsOf(collection), ["A ✓", "B ✓"]);
  await collection.delete(keys).isPersisted.promise;
  assertEquals([textsOf(collection), await served.app.read("/errands")], [[], []]);
});

test("a class whose _id clients choose keeps the _id of the row", async () => {
  await using served = await serveErrands();
  await using tab = await served.openChosen();
  const { collection, line } = tab;
  const insert = collection.insert({ _id: "a/b", text: "A" });
  const update = collection.update("a/b", (draft) => void (draft.text = "B"));
  await Promise.all([insert, update].map(({ isPersisted }) => isPersisted.promise));
  assertEquals(collection.toArray.map(({ _id, text, __v }) => [_id, text, __v]), [["a/b", "B", 1]]);
  const change = (text: string) =>
    collection.update("a/b", (draft) => void (draft.text = text)).isPersisted.promise;
  await served.app.delete("/chosen/a%2Fb");
  await served.app.created("/chosen", { _id: "a/b", text: "New" });
  await until(() => collection.get("a/b")?.text === "New");
  await change("Newer");
  await change("Newest");
  assertEquals(line.writes.map(({ headers }) => headers.get(PRECONDITION)), [
    ...[null, '"0"'],
    ...['"0"', '"1"'],
  ]);
});

test("rows have the numbers by which a class identifies its entities", async () => {
  await using served = await serveErrands();
  await using tab = await served.openChosen("/numbered");
  const { collection, line } = tab;
  // The types of the client know strings alone.
  const row: Row<ChosenErrand> = JSON.parse('{ "_id": 7, "text": "A" }');
  await collection.insert(row).isPersisted.promise;
  await collection.update(row._id, (draft) => void (draft.text = "B")).isPersisted.promise;
  assertEquals([collection.get(row._id)?.text, collection.size], ["B", 1]);
  await collection.delete(row._id).isPersisted.promise;
  assertEquals(line.writes.map(({ path }) => path), ["/numbered", "/numbered/7", "/numbered/7"]);
});
