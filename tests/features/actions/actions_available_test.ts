import { assertEquals, assertThrows } from "@std/assert";
import type { Schema } from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  type Hidden,
  one,
  prop,
  remove,
  rest,
  RestError,
  update,
} from "../../../mod.ts";
import { documentOf } from "../../support/documented.ts";
import { test } from "../../harness/testing.ts";
import { readToEnd, sendGet } from "../../support/sockets.ts";
import { type ErrorBody, mount } from "../../support/support.ts";

/** Makes an action that adds its name to an entity, while the entity is open. */
const mark = (name: string, options: object = {}) =>
  action(name, {
    on: "one",
    ...options,
    run: async (_req, marked: Entity<Marked>) => {
      marked.marks = [...marked.marks ?? [], name];
      return await marked.save();
    },
  });
const isOpen = (_req: FrameworkRequest, { state }: Marked) => state === "open";

class Marked extends FrameworkModel {
  @prop({ default: "open" })
  state!: string;
  @arrayProp({ items: String })
  marks?: string[];
}

class Note extends Marked {}

const close = mark("close", { available: isOpen });
const secret = mark("secret", { available: (_req: unknown, { code }: Ticket) => code === "x" });
const unread = mark("unread", { available: (_req: unknown, { large }: Ticket) => large === "l" });
const byRole = mark("byRole", {
  available: ({ headers }: FrameworkRequest) => headers["x-role"] === "agent",
});
const seen = mark("seen", {
  postFetch: (_req: unknown, { state }: Ticket) => state === "open" ? { state: "seen" } : null,
  available: (_req: unknown, { state }: Ticket) => state === "seen",
});
const refused = mark("refused", {
  available: () => {
    throw new RestError(403, "Not yours");
  },
});

@rest({
  route: "/tickets",
  scope: (req) => ({ org: req.headers["x-org"] ?? "a" }),
  methods: [
    all(),
    one(),
    create(),
    update(),
    mark("always"),
    close,
    secret,
    unread,
    byRole,
    seen,
    refused,
  ],
})
@rest({
  route: "/hooked",
  methods: [one<Ticket>({ preSend: (_req, { state }) => ({ state }) }), close],
})
@rest({ route: "/shut", methods: [one(), mark("shut", { available: () => false })] })
@rest({ route: "/plain", methods: [one(), mark("always")] })
class Ticket extends Marked {
  @prop({ default: "a" })
  org!: string;
  @prop({ hidden: true })
  code?: Hidden<string>;
  @prop({ select: false })
  large?: string;
  @arrayProp({ items: Note, embedded: true })
  @rest({ methods: [all(), one(), create(), update(), close, mark("always")] })
  notes?: Note[];
  @prop({ type: Note })
  @rest({ methods: [one(), create(), close] })
  note?: Note;
}

/** The names of the actions in the header `Link` of an answer. */
async function offered(path: string, headers = {}): Promise<string[]> {
  const answer = await fetch(path, { headers });
  await answer.body?.cancel();
  const links = (answer.headers.get("link") ?? "").matchAll(/<([^>]*)>; rel="action"/g);
  return [...links].map(([, url = ""]) => url.replace(new URL(path).pathname, ""));
}

test("an action runs only where it is available, and one() names it there", async () => {
  await using app = await mount([Ticket]);
  const { _id } = await app.created("/tickets", {});
  const path = `/tickets/${_id}`;
  const url = `${app.url}${path}`;

  assertEquals(await offered(url), ["/always", "/close", "/seen"]);
  await app.updated(path, { code: "x", large: "l" });
  assertEquals(await offered(url, { "x-role": "agent" }), [
    ...["/always", "/close", "/secret", "/unread", "/byRole", "/seen"],
  ]);
  assertEquals((await app.post(`${path}/close`)).body.marks, ["close"]);
  await app.updated(path, { state: "closed", code: "y" });
  assertEquals(await offered(`${url}?q={"state":"closed"}`), ["/always", "/unread"]);
  assertEquals(await offered(`${app.url}/hooked/${_id}`), []);

  const { status, body } = await app.post<ErrorBody>(`${path}/close`);
  assertEquals([status, body], [409, {
    code: "CONFLICT",
    message: 'The action "close" is not available now',
  }]);
  for (const [name, expected] of [["secret", 409], ["seen", 404], ["refused", 403]] as const) {
    assertEquals([name, (await app.post(`${path}/${name}`)).status], [name, expected]);
  }
  const others = { headers: { "x-org": "b" } };
  assertEquals((await app.post(`${path}/close`, undefined, others)).status, 404);
  const stale = { headers: { "if-match": '"0"' } };
  assertEquals((await app.post(`${path}/close`, undefined, stale)).status, 412);
  assertEquals((await app.read(path)).marks, ["close"]);
});

test("actions on parts are available by the part", async () => {
  await using app = await mount([Ticket]);
  const { _id } = await app.created("/tickets", {});
  const note = await app.created(`/tickets/${_id}/notes`, {});
  const path = `/tickets/${_id}/notes/${note._id}`;
  assertEquals(await offered(`${app.url}${path}`), ["/close", "/always"]);
  await app.updated(path, { state: "closed" });
  assertEquals(await offered(`${app.url}${path}`), ["/always"]);
  assertEquals((await app.post(`${path}/close`)).status, 409);
  await app.created(`/tickets/${_id}/note`, { state: "closed" });
  assertEquals(await offered(`${app.url}/tickets/${_id}/note`), []);
  assertEquals((await app.post(`/tickets/${_id}/note/close`)).status, 409);
});

test("only classes with such an action have the header, also on a 304 and on hooked reads", async () => {
  await using app = await mount([Ticket]);
  const { _id } = await app.created("/tickets", {});
  assertEquals(await offered(`${app.url}/plain/${_id}`), []);
  assertEquals(await offered(`${app.url}/shut/${_id}`), []);
  assertEquals(await offered(`${app.url}/hooked/${_id}`), ["/close"]);
  const { headers } = await app.get(`/hooked/${_id}`);
  const again = await app.get(`/hooked/${_id}`, {
    headers: { "if-none-match": headers.get("etag") ?? "" },
  });
  assertEquals([again.status, again.headers.get("link")], [
    304,
    `</hooked/${_id}/close>; rel="action"`,
  ]);
});

for (
  const [what, available] of [
    ["throws", () => {
      throw new Error("broken");
    }],
    ["gives a promise", () => Promise.resolve(true)],
    ["forgets to return", () => undefined],
  ] as const
) {
  test(`a function that ${what} is a mistake of the application`, async () => {
    @rest({ route: "/odd", methods: [one(), create(), mark("act", { available })] })
    class Odd extends Marked {}
    const errors: unknown[] = [];
    await using app = await mount([Odd], { onError: (error) => void errors.push(error) });
    const { _id } = await app.created("/odd", {});
    assertEquals((await app.post(`/odd/${_id}/act`)).status, 500);
    assertEquals((await app.get(`/odd/${_id}`)).status, 500);
    assertEquals(errors.length, 2);
  });
}

test("one() of an entity in the trash names no actions, which answer 404", async () => {
  @rest({
    route: "/jobs",
    trash: { see: () => true },
    methods: [one(), create(), remove(), close],
  })
  class Job extends Marked {}
  await using app = await mount([Job]);
  const { _id } = await app.created("/jobs", {});
  const path = `/jobs/${_id}`;
  assertEquals(await offered(`${app.url}${path}`), ["/close"]);
  assertEquals((await app.delete(path)).status, 204);
  assertEquals((await app.get(`${path}?trash=only`)).status, 200);
  assertEquals(await offered(`${app.url}${path}?trash=only`), []);
  assertEquals((await app.post(`${path}/close`)).status, 404);
});

test("signs that a client writes into a path end no URL in Link", async () => {
  @rest({ route: "/signs", methods: [one(), create(), close] })
  class Sign extends Marked {
    static override configure(schema: Schema): void {
      schema.add({ _id: String });
    }
  }
  await using app = await mount([Sign]);
  const _id = 'a>;rel="b"<';
  await app.created("/signs", { _id });
  const { hostname, port } = new URL(app.url);
  const raw = await Deno.connect({ hostname, port: Number(port) });
  await sendGet(raw, `/signs/${_id}`, { headers: "Connection: close\r\n" });
  const text = await readToEnd(raw);
  assertEquals(
    /^link: (.*)$/im.exec(text)?.[1],
    '</signs/a%3E;rel=%22b%22%3C/close>; rel="action"',
  );
});

test("descriptions tell of actions with a rule", async () => {
  const routes = Framework.describe({ models: [Ticket] });
  const conditional = (path: string) => routes.find((each) => each.path === path)?.conditional;
  assertEquals(conditional("/tickets/:id/close"), true);
  assertEquals(conditional("/tickets/:id/always"), undefined);
  const { operation } = await documentOf([Ticket]);
  const linkOf = (path: string) => {
    const { headers = {} } = operation("get", path).responses[200] as { headers?: object };
    return "Link" in headers;
  };
  assertEquals([linkOf("/tickets/{id}"), linkOf("/plain/{id}")], [true, false]);
});

for (
  const [options, problem] of [
    [{ on: "all", available: () => true }, 'is on all, and cannot have "available"'],
    [{ on: "one", available: true }, 'needs a function as "available"'],
    [{ on: "one", available: async () => await true }, 'has "available", which is asynchronous'],
  ] as const
) {
  Deno.test(`an action that ${problem} fails the start`, () => {
    @rest({
      route: "/wrong",
      methods: [one(), action("act", { ...options, run: () => undefined } as never)] as never,
    })
    class Wrong extends FrameworkModel {}
    assertThrows(() => Framework.initialize({ models: [Wrong] }), TypeError, `act() ${problem}`);
  });
}
