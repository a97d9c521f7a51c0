import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { Framework } from "../../../mod.ts";
import type { Reply } from "../../harness/request.ts";
import { test } from "../../harness/testing.ts";
import { Board, keyed, listsOf, Note, textsAt } from "./keyed.ts";
import { type EntityBody, mount, start, type Started } from "../../support/support.ts";

const CLIENTS = 64;

/** Serves the models once more, over the same database. */
async function startAnother(): Promise<Started> {
  const app = express();
  app.use(express.json(), Framework.initialize({ models: [Note, Board] }), Framework.errors());
  return await start(app);
}

/** What is wrong with the answers to one creation that many have sent, if anything. */
function wrongAmong(replies: readonly Reply<EntityBody>[]): unknown[] {
  const created = replies.filter(({ status }) => status === 201);
  const ids = new Set(created.map(({ body }) => body._id));
  const others = replies.filter(({ status, headers }) =>
    status !== 201 && (status !== 409 || !headers.has("retry-after"))
  );
  return [...ids.size === 1 ? [] : [...ids], ...others.map(({ status, text }) => [status, text])];
}

test("64 clients with one key at two servers create one entity", async (t) => {
  await using app = await mount([Note, Board]);
  await using other = await startAnother();
  for (const path of await listsOf(app)) {
    await t.step(path, async () => {
      const before = await textsAt(app, path);
      for (const key of ["a", "b", "c"]) {
        const send = (at: { post: typeof app.post }) => at.post(path, { text: "new" }, keyed(key));
        const servers = Array.from({ length: CLIENTS }, (_, index) => index % 2 ? app : other);
        assertEquals(wrongAmong(await Promise.all(servers.map(send))), []);
        assertEquals((await send(other)).status, 201);
      }
      assertEquals(await textsAt(app, path), [...before, "new", "new", "new"]);
    });
  }
});

test("of many clients with one key and two bodies, one body is created", async () => {
  await using app = await mount([Note, Board]);
  const texts = Array.from({ length: CLIENTS }, (_, index) => index % 2 ? "a" : "b");
  const replies = await Promise.all(
    texts.map((text) => app.post("/notes", { text }, keyed("k"))),
  );
  const stored = await textsAt(app, "/notes");
  assertEquals(stored.length, 1);
  for (const [index, { status }] of replies.entries()) {
    const isRight = texts[index] === stored[0] ? status === 201 || status === 409 : status === 422;
    assertEquals(isRight, true, `${status}`);
  }
});

test("many clients with keys of their own create as many entities", async () => {
  await using app = await mount([Note, Board]);
  for (const path of await listsOf(app)) {
    const before = await textsAt(app, path);
    const replies = await Promise.all(
      Array.from(
        { length: CLIENTS },
        (_, index) => app.post(path, { text: "same" }, keyed(`${index}`)),
      ),
    );
    assertEquals(new Set(replies.map(({ status }) => status)), new Set([201]));
    assertEquals((await textsAt(app, path)).length, before.length + CLIENTS);
  }
});
