import { assert, assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody } from "../support/support.ts";
import { openNotes } from "./failing_notes.ts";

/** The labels of an error after which the driver repeats a statement, after a pause. */
const REPEATED = ["SystemOverloadedError", "RetryableError"];

/** The code of a server that gets more requests than it allows. */
const TOO_MANY = 462;

type Notes = Awaited<ReturnType<typeof openNotes>>;

/** Counts the commands of a name from now on. */
function countOf({ connection }: Notes, command: string) {
  let count = 0;
  const listen = ({ commandName }: { commandName: string }) => {
    if (commandName === command) count++;
  };
  const client = connection.getClient();
  client.on("commandStarted", listen);
  return {
    get count() {
      return count;
    },
    [Symbol.dispose]: () => void client.off("commandStarted", listen),
  };
}

/** Makes the random part of the driver's pauses as long as possible. */
function longestPauses(): Disposable {
  const { random } = Math;
  Math.random = () => 0.999;
  return { [Symbol.dispose]: () => void (Math.random = random) };
}

test("a statement that an overloaded server refuses is repeated by the driver after pauses", async (t) => {
  await using notes = await openNotes();
  using _ = longestPauses();
  for (const [command, call] of Object.entries(notes.calls)) {
    const data = { failCommands: [command], errorCode: TOO_MANY, errorLabels: REPEATED };
    await t.step(`${command}, once`, async () => {
      await notes.fail({ times: 1 }, data);
      const begun = performance.now();
      const { status } = await call();
      assertEquals(status < 300, true, `${status}`);
      // The pauses double, and the first one is below 200 ms.
      assert(performance.now() - begun > 190);
    });
    await t.step(`${command}, always`, async () => {
      using counted = countOf(notes, command);
      await notes.fail("alwaysOn", data);
      const begun = performance.now();
      const { status, body, headers } = await call();
      await notes.fail("off");
      assert(performance.now() - begun > 580);
      assertEquals([status, body.code, headers.get("retry-after")], [503, "UNAVAILABLE", "5"]);
      assertEquals(counted.count, 3);
    });
  }
});

test("a transaction in which a server is overloaded ends, although it could be repeated", async () => {
  await using notes = await openNotes();
  using counted = countOf(notes, "insert");
  await notes.fail("alwaysOn", {
    failCommands: ["insert"],
    errorCode: TOO_MANY,
    errorLabels: ["SystemOverloadedError", "TransientTransactionError"],
  });
  const { status, headers } = await notes.calls.commitTransaction();
  await notes.fail("off");
  assertEquals([status, headers.get("retry-after"), counted.count], [503, "5", 1]);
});

test("a statement that an overloaded server has interrupted is not repeated", async (t) => {
  await using notes = await openNotes();
  for (const [command, call] of Object.entries(notes.calls)) {
    await t.step(command, async () => {
      using counted = countOf(notes, command);
      await notes.fail("alwaysOn", {
        failCommands: [command],
        errorCode: 473,
        errorLabels: ["SystemOverloadedError"],
      });
      const { status, body, headers } = await call();
      await notes.fail("off");
      assertEquals([status, body.code, headers.get("retry-after")], [503, "UNAVAILABLE", "5"]);
      assertEquals(counted.count, 1);
    });
  }
});

test("values that MongoDB 9 refuses are answered 400", async (t) => {
  await using notes = await openNotes();
  for (const [command, call] of Object.entries(notes.calls)) {
    for (const errorCode of [510, 511]) {
      await t.step(`${command}: ${errorCode}`, async () => {
        await notes.fail("alwaysOn", { failCommands: [command], errorCode });
        const { status, body } = await call();
        await notes.fail("off");
        assertEquals([status, body.code], [400, "BAD_DATA"]);
      });
    }
  }
  const q = asQuery({ text: { $regex: "a" } });
  for (const errorCode of [510, 511]) {
    await notes.fail("alwaysOn", { failCommands: ["find"], errorCode });
    const { status, body } = await notes.app.get<ErrorBody>(`/notes${q}`);
    await notes.fail("off");
    assertEquals([status, body.code], [400, "BAD_FORMAT"]);
  }
});

test("too little memory is answered 400 if the filter of a client may be the cause, and 503 otherwise", async (t) => {
  await using notes = await openNotes();
  const q = asQuery({ text: { $regex: "a" } });
  for (const errorCode of [146, 292]) {
    for (const [command, call] of Object.entries(notes.calls)) {
      await t.step(`${command}: ${errorCode}`, async () => {
        await notes.fail("alwaysOn", { failCommands: [command], errorCode });
        const { status, body, headers } = await call();
        await notes.fail("off");
        assertEquals([status, body.code, headers.has("retry-after")], [503, "UNAVAILABLE", true]);
      });
    }
    for (const path of ["/notes", "/hooked"]) {
      await notes.fail("alwaysOn", { failCommands: ["find"], errorCode });
      const filtered = await notes.app.get<ErrorBody>(`${path}${q}`);
      const simple = await notes.app.get(`${path}${asQuery({ text: "a" })}`);
      await notes.fail("off");
      assertEquals([filtered.status, filtered.body.code], [400, "BAD_FORMAT"]);
      assertEquals(simple.status, 503);
    }
  }
});
