import { assertEquals, assertThrows } from "@std/assert";
import { connect } from "@mongrove/mongrove/client";
import { collectionOptions, temporaryId } from "@mongrove/mongrove/tanstack";
import { test } from "../harness/testing.ts";
import { type Errand, serveErrands, textsOf } from "./errands.ts";

for (const live of [true, false]) {
  const list = live ? "a live list" : "a list";

  test(`a change in ${list} that waits behind a refused one overwrites nothing unseen`, async () => {
    await using served = await serveErrands();
    const { _id } = await served.app.created("/errands", { text: "A" });
    await using tab = await served.open({ live });
    const { collection, line } = tab;
    line.before = async ({ method }) => {
      if (method !== "PATCH") return;
      line.before = () => {};
      await served.app.updated(`/errands/${_id}`, { text: "Other" });
    };
    const changes = ["B", "C"].map((text) =>
      collection.update(_id, (draft) => void (draft.text = text)).isPersisted.promise
    );
    for (const result of await Promise.allSettled(changes)) {
      assertEquals(result.status === "rejected" && result.reason.status, 412);
    }
    assertEquals(textsOf(collection), ["Other"]);
    await collection.update(_id, (draft) => void (draft.text = "D")).isPersisted.promise;
    assertEquals((await served.app.read<Errand>(`/errands/${_id}`)).text, "D");
  });
}

test("a stored change is not rolled back if the list cannot be read after it", async () => {
  await using served = await serveErrands();
  const headers = { prefer: "return=minimal" };
  await using tab = await served.open({ live: false }, { headers });
  const { collection, line } = tab;
  line.before = ({ method }) => {
    if (method === "GET") throw new TypeError("No list");
  };
  const row = { _id: temporaryId(), text: "A", done: false };
  await collection.insert(row).isPersisted.promise;
  line.before = () => {};
  await collection.utils.refetch();
  assertEquals(textsOf(collection), ["A"]);
});

test("collectionOptions() refuses wrong options", () => {
  const resource = connect("http://127.0.0.1/").resource<Errand>("/errands");
  const wrong: [object, string][] = [
    [{ lively: true }, 'there is no option "lively"'],
    [{ query: { page: 1 } }, 'there is no option "page"'],
    [{ live: "yes" }, '"live" is not a boolean'],
    [{ onDisconnect: "log" }, '"onDisconnect" is not a function'],
    [{ query: "text=A" }, '"query" is not an object'],
  ];
  for (const [options, problem] of wrong) {
    const make = () => collectionOptions(resource, options);
    assertThrows(make, TypeError, `Cannot make a collection: ${problem}`);
  }
});
