import { assertEquals, assertMatch } from "@std/assert";
import { asQuery, mount, NOBODY } from "../../support/support.ts";
import type { EntityBody, ErrorBody } from "../../support/support.ts";
import { test } from "../../harness/testing.ts";
import { Person, Ticket } from "../../fixtures/tickets.ts";

const MODELS = [Ticket, Person];
const BODY = { reason: "done" };

test("an action gets the entity and its body, and answers with the entity as it is saved", async () => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", { title: "a", secret: "s" });

  const reply = await app.post(`/tickets/${_id}/close`, { reason: " done " });

  const { __v, ...rest } = reply.body;
  assertEquals(reply.status, 200, reply.text);
  assertEquals(__v, 1);
  assertEquals([rest.state, rest.reason, rest.title], ["closed", "done", "a"]);
  assertEquals(rest.secret, undefined);
  const stored = await app.get<EntityBody>(`/tickets/${_id}`);
  assertEquals(reply.headers.get("etag"), stored.headers.get("etag"));
  assertEquals(stored.body, reply.body);
});

test("an action on all gets what the request selects, before one() takes its path", async () => {
  await using app = await mount(MODELS);
  for (const org of ["a", "a", "b"]) await app.created("/tickets", { title: "a", org });

  const reply = await app.get("/tickets/report");
  const scoped = await app.get("/tickets/report", { headers: { "x-org": "a" } });
  const selected = await app.get(`/tickets/report${asQuery({ state: "closed" })}`);

  assertEquals(reply.text, '{"open":3}');
  assertEquals(scoped.text, '{"open":2}');
  assertEquals(selected.text, '{"open":0}');
  assertEquals((await app.get(`/tickets/report${asQuery({ nope: 1 })}`)).status, 400);
});

test("an action answers 404 where an update would, and looks at the values of the body only then", async (t) => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", { title: "a" });
  const cases: [string, Record<string, string>][] = [
    [`/tickets/${NOBODY}/close`, {}],
    ["/tickets/nobody/close", {}],
    [`/tickets/${_id}/close`, { "x-org": "b" }],
    [`/tickets/${_id}/close${asQuery({ state: "closed" })}`, {}],
  ];
  for (const [path, headers] of cases) {
    await t.step(path, async () => {
      const { status, body } = await app.post<ErrorBody>(path, { reason: 1 }, { headers });
      assertEquals([status, body.code], [404, "NOT_FOUND"]);
    });
  }
});

test("an action checks the form of its body before it reads, as an update does", async () => {
  await using app = await mount(MODELS);
  const headers = { "content-type": "text/plain" };
  const closed = await app.post<ErrorBody>(`/tickets/${NOBODY}/close`, BODY, { headers });
  const updated = await app.patch<ErrorBody>(`/tickets/${NOBODY}`, BODY, { headers });
  assertEquals([closed.status, updated.status], [415, 415]);
  assertEquals((await app.post(`/tickets/${NOBODY}/close`, [])).status, 400);
});

test("an action refuses a body that breaks its rules, all of them at once", async () => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", { title: "a" });
  const path = `/tickets/${_id}/close`;

  const broken = await app.post<ErrorBody>(path, { reason: "x", minutes: "y" });
  const missing = await app.post<ErrorBody>(path, {});
  const none = await app.post<ErrorBody>(path);
  const list = await app.post<ErrorBody>(path, []);
  const headers = { "content-type": "text/plain" };
  const text = await app.post<ErrorBody>(path, BODY, { headers });

  assertEquals(broken.status, 400);
  assertEquals(broken.body.code, "BAD_DATA");
  assertEquals(Object.keys(broken.body.errors ?? {}).sort(), ["minutes", "reason"]);
  assertEquals(missing.body.errors?.reason?.kind, "required");
  assertEquals([none.status, none.body.code], [400, "BAD_FORMAT"]);
  assertEquals([list.status, list.body.code], [400, "BAD_FORMAT"]);
  assertEquals([text.status, text.body.code], [415, "UNSUPPORTED_MEDIA_TYPE"]);
  assertEquals((await app.read(`/tickets/${_id}`)).state, "open");
});

test("an action is on embedded elements, on the one that a property holds, and on references", async (t) => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", { title: "a" });
  const note = await app.created(`/tickets/${_id}/notes`, { text: "n", secret: "s" });
  await app.created(`/tickets/${_id}/pinned`, { text: "p" });
  const watcher = await app.created(`/tickets/${_id}/watchers`, { name: "w", secret: "s" });
  await app.created(`/tickets/${_id}/owner`, { name: "o" });
  const cases: [string, string, unknown][] = [
    [`notes/${note._id}/touch`, "text", "n!"],
    ["pinned/touch", "text", "p!"],
    [`watchers/${watcher._id}/greet`, "greeted", 1],
    ["owner/greet", "greeted", 1],
  ];
  for (const [path, field, value] of cases) {
    await t.step(path, async () => {
      const reply = await app.post(`/tickets/${_id}/${path}`);
      assertEquals(reply.status, 200, reply.text);
      assertEquals(reply.body[field], value);
      assertEquals(reply.body.secret, undefined);
      const read = await app.get<EntityBody>(
        `/tickets/${_id}/${path.slice(0, path.lastIndexOf("/"))}`,
      );
      assertEquals(read.body, reply.body);
      assertEquals(read.headers.get("etag"), reply.headers.get("etag"));
    });
  }
});

test("an action on a reference reaches only what its parent refers to, within the scope", async () => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", { title: "a" });
  await app.created(`/tickets/${_id}/watchers`, { name: "w" });
  await app.created(`/tickets/${_id}/owner`, { name: "o" });
  const stranger = await app.created("/people", { name: "x" });

  const { status } = await app.post(`/tickets/${_id}/watchers/${stranger._id}/greet`);
  const hidden = await app.post(`/tickets/${_id}/owner/greet`, undefined, {
    headers: { "x-org": "b" },
  });
  const names = await app.get(`/tickets/${_id}/watchers/names`);

  assertEquals([status, hidden.status], [404, 404]);
  assertEquals(names.text, '{"names":["w"]}');
  assertMatch(String(stranger._id), /^[0-9a-f]{24}$/);
});
