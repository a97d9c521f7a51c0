import { assertEquals } from "@std/assert";
import { spy, stub } from "@std/testing/mock";
import { type Entity, SyncedList, type SyncWrite } from "./_synced_list.ts";

interface Note extends Entity {
  readonly text: string;
}

const note = (_id: string, version?: number, text = `${_id}${version}`): Note => ({
  _id,
  text,
  ...version !== undefined && { __v: version },
});

/** Holds the timers back until `elapse()` runs them. */
function holdTimers() {
  let waiting: (() => void)[] = [];
  const { setTimeout, clearTimeout } = globalThis;
  const held = stub(globalThis, "setTimeout", (run: () => void, milliseconds?: number) => {
    assertEquals(milliseconds, 5000);
    waiting.push(run);
    const timer = setTimeout(() => {});
    clearTimeout(timer);
    return timer;
  });
  const elapse = () => {
    const due = waiting;
    waiting = [];
    for (const run of due) run();
  };
  return { elapse, [Symbol.dispose]: () => held.restore() };
}

function openList(isLive = true) {
  const rows = new Map<string, string>();
  const transactions: string[] = [];
  const params = {
    collection: {},
    begin: () => void transactions.push("begin"),
    write: (write: SyncWrite<Note>) => {
      if (write.type === "delete") return void rows.delete(write.key);
      assertEquals(rows.has(write.value._id), write.type === "update");
      rows.set(write.value._id, write.value.text);
    },
    commit: () => void transactions.push("commit"),
    markReady: () => {},
    markError: () => {},
  };
  const list = new SyncedList<Note>(isLive);
  const open = () => {
    rows.clear();
    list.open(params);
  };
  open();
  return { list, open, transactions, shown: () => [...rows.values()].sort().join() };
}

Deno.test("SyncedList writes one transaction for a list, and none for an equal one", () => {
  const { list, transactions, shown } = openList();
  const [a, b] = [note("a", 0), note("b", 0)];
  list.take([a, b]);
  list.take([a, b]);
  list.take([b, note("a", 1)]);
  assertEquals([shown(), transactions.length], ["a1,b0", 4]);
});

Deno.test("SyncedList shows an update until the list has it, or has lost the entity", () => {
  const { list, shown } = openList();
  const a = note("a", 0);
  list.take([a]);
  list.add("a", note("a", 2));
  list.take([a, note("b", 0)]);
  list.take([note("a", 1), note("b", 0)]);
  assertEquals(shown(), "a2,b0");
  list.take([note("a", 3), note("b", 0)]);
  list.take([note("a", 3, "later"), note("b", 0)]);
  assertEquals(shown(), "b0,later");
  list.add("a", note("a", 4));
  list.take([note("b", 0)]);
  list.add("a", note("a", 5));
  assertEquals(shown(), "b0");
  list.close();
});

Deno.test("SyncedList hides a removed entity until the list has lost it, or has a later version", () => {
  const { list, shown } = openList();
  const a = note("a", 1);
  list.take([a]);
  list.add("a", undefined);
  list.take([a]);
  list.take([note("a", 1)]);
  assertEquals(shown(), "");
  list.take([note("a", 2)]);
  assertEquals(shown(), "a2");
  list.add("a", undefined);
  list.take([]);
  list.take([note("a", 0)]);
  assertEquals(shown(), "a0");
  list.close();
});

Deno.test("SyncedList takes events that come after later writes for what they are", () => {
  const { list, shown } = openList();
  list.take([]);
  list.add("a", note("a", 0), true);
  list.add("a", note("a", 1));
  list.take([note("a", 0)]);
  assertEquals(shown(), "a1");
  list.take([]);
  assertEquals(shown(), "");
  list.add("b", note("b", 0), true);
  list.add("b", undefined);
  for (const version of [0, 0]) list.take([note("b", version)]);
  assertEquals(shown(), "");
  list.take([]);
  list.take([note("b", 0, "another")]);
  assertEquals(shown(), "another");
  list.close();
});

Deno.test("SyncedList shows a created entity for 5 s, or as long as the list is without connection", () => {
  using timers = holdTimers();
  const { list, shown } = openList();
  list.add("a", note("a", 0), true);
  list.take([]);
  assertEquals(shown(), "a0");
  timers.elapse();
  assertEquals(shown(), "");
  list.add("b", note("b", 0), true);
  list.add("c", note("c", 0), true);
  list.isBroken = true;
  timers.elapse();
  timers.elapse();
  assertEquals(shown(), "b0,c0");
  list.take([note("b", 0)]);
  timers.elapse();
  assertEquals(shown(), "b0");
  list.close();
});

Deno.test("SyncedList shows outcomes of a list that is not live until the list is read again", () => {
  using timers = holdTimers();
  const { list, shown } = openList(false);
  const a = note("a", 0);
  list.take([a, note("z", 0)]);
  list.add("b", note("b", 0), true);
  list.add("z", undefined);
  timers.elapse();
  const contained = list.outcomes;
  list.add("c", note("c", 0), true);
  list.add("a", note("a", 1));
  list.take([a], contained);
  assertEquals(shown(), "a1,c0");
});

Deno.test("SyncedList takes what the list has next for parts, which have no version", () => {
  const { list, shown } = openList();
  const a = note("a", undefined, "old");
  list.take([a]);
  list.add("a", note("a", undefined, "new"));
  list.take([a, note("b", undefined, "b")]);
  assertEquals(shown(), "b,new");
  list.take([note("a", undefined, "newer"), note("b", undefined, "b")]);
  assertEquals(shown(), "b,newer");
  list.close();
});

Deno.test("SyncedList knows the version of a write until another entity has the _id", () => {
  const { list } = openList();
  list.take([note("a", 0)]);
  list.add("a", note("a", 1));
  list.take([note("a", 1)]);
  assertEquals(list.versionOf("a"), 1);
  list.take([note("a", 0)]);
  assertEquals(list.versionOf("a"), undefined);
  list.add("a", note("a", 1));
  list.take([]);
  assertEquals(list.versionOf("a"), undefined);
  list.close();
});

Deno.test("SyncedList waits for nothing after close(), and begins anew", () => {
  const { list, open, shown } = openList();
  const c = note("c", 0);
  list.take([c]);
  list.add("a", note("a", 0), true);
  using cleared = spy(globalThis, "clearTimeout");
  list.close();
  assertEquals(cleared.calls.length, 1);
  list.add("b", note("b", 0), true);
  assertEquals(shown(), "a0,c0");
  open();
  list.take([c]);
  assertEquals(shown(), "c0");
});
