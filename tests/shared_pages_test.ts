import { assert, assertEquals } from "@std/assert";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../mod.ts";
import { pass, watchCommands } from "./both_paths.ts";
import { test } from "./harness/testing.ts";
import { gate } from "./race.ts";
import { asQuery, type EntityBody, mount } from "./support.ts";

/** Holds requests until all that are to meet are here: then they go on in the same turn. */
let meet = gate(1);

async function preFetch(req: FrameworkRequest): Promise<boolean> {
  Object.assign(req.framework.options, JSON.parse(req.get("x-options") ?? "{}"));
  return await meet(req, true);
}

const scope = (req: FrameworkRequest) => {
  const tenant = req.get("x-tenant");
  return tenant === undefined ? {} : { tenant };
};

@rest({ route: "/writers", methods: [one()], scope })
class Writer extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  tenant?: string;
}

const LISTED = {
  page: { size: 3, max: 10 },
  sort: ["rank"],
  select: ["rank"],
  populate: { writer: true },
  preFetch,
} as const;

@rest({ route: "/notes", methods: [all({ ...LISTED, count: true })] })
@rest({ route: "/hooked", methods: [all({ ...LISTED, postFetch: pass })] })
class Note extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @prop({ ref: Writer })
  writer?: Ref<Writer>;
  @prop({ hidden: true })
  secret?: string;
}

/** Serves notes of writers; gives the list of the commands that are sent. */
async function open() {
  const app = await mount([Writer, Note], { onError: () => {} });
  const sent = await watchCommands(app.database.uri);
  const names = ["a", "b"].map((tenant) => ({ name: `W${tenant}`, tenant }));
  const writers = await getModel(Writer).create(names);
  const ranks = Array.from({ length: 8 }, (_, rank) => ({
    ...{ rank, secret: "SECRET", __v: 0 },
    writer: writers[rank % 2]?._id,
  }));
  await getModel(Note).collection.insertMany(ranks as never[]);
  return Object.assign(app, { sent });
}

type App = Awaited<ReturnType<typeof open>>;

interface Asked {
  readonly path: string;
  readonly headers?: Record<string, string>;
}

/** Asks for pages in one turn; gives the answers, and how many statements they took. */
async function ask({ get, sent }: App, asked: readonly Asked[]) {
  // Some that come together, so that the next ones wait for each other as well
  meet = gate(3);
  await Promise.all(times(3, "/notes?limit=9").map((path) => get(path)));
  meet = gate(asked.length);
  sent.length = 0;
  const replies = await Promise.all(
    asked.map(({ path, headers = {} }) => get<EntityBody[]>(path, { headers })),
  );
  return { replies, statements: sent.splice(0).map(({ name }) => name) };
}

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

test("requests of one turn that ask for the same page get it by one statement", async () => {
  await using app = await open();
  const totals = { prefer: "count=exact" };
  for (
    const [path, headers, sent] of [
      ["/notes", {}, ["find"]],
      ["/notes?sort=-rank&limit=2&select=rank", {}, ["find"]],
      ["/notes?populate=writer", {}, ["find", "find"]],
      [`/notes${asQuery({ rank: { $gt: 2 } })}&skip=1`, {}, ["find"]],
      ["/notes", totals, ["aggregate"]],
    ] as const
  ) {
    const { replies, statements } = await ask(app, times(6, { path, headers }));
    assertEquals([path, statements], [path, sent]);
    meet = gate(1);
    const alone = await app.get(path, { headers });
    assertEquals(alone.status, 200);
    for (const { status, text, headers: own } of replies) {
      assertEquals([status, text, own.get("link")], [200, alone.text, alone.headers.get("link")]);
      assertEquals(own.get("content-range"), alone.headers.get("content-range"));
    }
  }
});

test("requests share no page with others that ask for another one", async () => {
  await using app = await open();
  const options = (value: object) => ({ headers: { "x-options": JSON.stringify(value) } });
  const asked: Asked[] = [
    { path: "/notes" },
    { path: "/notes?limit=2" },
    { path: "/notes?sort=rank" },
    { path: "/notes?sort=-rank" },
    { path: "/notes?select=rank" },
    { path: "/notes?skip=1" },
    { path: `/notes${asQuery({ rank: 1 })}` },
    { path: `/notes${asQuery({ rank: { $gte: 1 } })}` },
    { path: "/notes", ...options({ comment: "a" }) },
    { path: "/notes", ...options({ collation: { locale: "en" } }) },
    { path: "/notes", headers: { prefer: "count=exact" } },
  ];
  const { replies, statements } = await ask(app, asked);
  assertEquals(statements.length, asked.length);
  for (const [index, { path, headers = {} }] of asked.entries()) {
    meet = gate(1);
    const alone = await app.get(path, { headers });
    assertEquals([path, replies[index]?.text], [path, alone.text]);
  }
});

test("requests share no page that shows what the scope of the other does not", async () => {
  await using app = await open();
  const asked = ["a", "b", "a", "b", undefined].map((tenant) => ({
    path: "/notes?populate=writer&sort=rank&limit=2",
    headers: tenant === undefined ? {} : { "x-tenant": tenant },
  }));
  const { replies, statements } = await ask(app, asked);
  assertEquals(statements.length, 6);
  const shown = replies.map(({ body }) => body.map(({ writer }) => Object(writer).name ?? null));
  assertEquals<unknown>(shown, [["Wa", null], [null, "Wb"], ["Wa", null], [null, "Wb"], [
    "Wa",
    "Wb",
  ]]);
});

test("requests with hooks on entities share nothing", async () => {
  await using app = await open();
  const { replies, statements } = await ask(app, times(4, { path: "/hooked" }));
  const finds = statements.filter((name) => name === "find").length;
  assertEquals([finds, new Set(replies.map(({ text }) => text)).size], [4, 1]);
});

test("a page that fails fails for those alone that ask for it", async () => {
  await using app = await open();
  const hint = { "x-options": JSON.stringify({ hint: "no such index" }) };
  const asked = [...times(2, { path: "/notes", headers: hint }), ...times(2, { path: "/notes" })];
  const { replies } = await ask(app, asked);
  const statuses = replies.map(({ status }) => status);
  assert(statuses.slice(0, 2).every((status) => status >= 500), String(statuses));
  assertEquals(statuses.slice(2), [200, 200]);
});

test("what is written before a page is asked for is in it", async () => {
  await using app = await open();
  for (let rank = 100; rank < 110; rank++) {
    meet = gate(1);
    const others = times(3, 0).map(() => app.get("/notes?sort=-rank"));
    await getModel(Note).collection.insertOne({ rank, __v: 0 } as never);
    const { body } = await app.get<EntityBody[]>("/notes?sort=-rank");
    assertEquals(body[0]?.rank, rank);
    await Promise.all(others);
  }
});
