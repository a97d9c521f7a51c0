import { assertEquals } from "@std/assert";
import { all, FrameworkModel, getModel, one, prop, rest } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import { openCursors, until } from "../../support/until.ts";

class Stored extends FrameworkModel {
  static override schemaOptions = { collection: "large_notes", autoIndex: false };
  @prop()
  text?: string;
}

/** Cursors that a `fetch` hook may give. */
const CURSORS = {
  "a cursor of Mongoose": () => getModel(Stored).find().cursor({ batchSize: 5 }),
  "a cursor of the driver": () => getModel(Stored).collection.find({}, { batchSize: 5 }),
} as const;

/** Serves what a cursor gives, and stores more than a socket takes at once. */
async function serveCursor(open: () => unknown, postFetch?: () => object) {
  const hooks = { fetch: open as () => never, ...postFetch && { postFetch } };
  @rest({ route: "/notes", methods: [all(hooks), one({ fetch: open as () => never })] })
  class Note extends FrameworkModel {
    @prop()
    text?: string;
  }
  const app = await mount([Note]);
  const text = "x".repeat(100_000);
  const documents = Array.from({ length: 200 }, () => ({ text }));
  await getModel(Stored).collection.insertMany(documents as never);
  return app;
}

for (const [name, open] of Object.entries(CURSORS)) {
  test(`${name} that fetch gives is closed when the client leaves`, async () => {
    await using app = await serveCursor(open);
    const before = await openCursors();
    for (let left = 3; left > 0; left--) {
      const leave = new AbortController();
      const answer = await fetch(`${app.url}/notes`, { signal: leave.signal });
      await answer.body?.getReader().read();
      leave.abort();
    }
    await until(async () => await openCursors() === before);
  });

  test(`${name} that fetch gives is closed when a hook fails, and when one entity is enough`, async () => {
    let seen = 0;
    const fail = () => {
      if (++seen % 20 === 0) throw new Error("No");
      return {};
    };
    await using app = await serveCursor(open, fail);
    const before = await openCursors();
    const onlyFirst = await app.get("/notes/any");
    assertEquals([(await app.get("/notes")).status, onlyFirst.status], [500, 200]);
    await until(async () => await openCursors() === before);
  });
}

test("an iterable that fetch gives is ended when the client leaves", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  async function* endless() {
    try {
      for (;;) yield { text: "x".repeat(100_000) };
    } finally {
      resolve("ended");
    }
  }
  await using app = await serveCursor(endless);
  const leave = new AbortController();
  const answer = await fetch(`${app.url}/notes`, { signal: leave.signal });
  await answer.body?.getReader().read();
  leave.abort();
  assertEquals(await promise, "ended");
});
