import { assertEquals } from "@std/assert";
import { Types } from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest } from "../../../mod.ts";
import type { FrameworkRequest, Ref } from "../../../mod.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { readPages } from "./links.ts";
import { mount } from "../../support/support.ts";

/** How many entities a list has. */
const ENTITIES = 300;

/** A hook that keeps every entity whose rank a number divides; the header `x-every` names it. */
const every = (req: FrameworkRequest, entity: object) =>
  Number((entity as Row).rank) % Number(req.headers["x-every"] ?? 1) === 0 ? entity : null;

const hooks = { postFetch: every };
const PAGE = { page: { size: 2, max: 100 } };

/** Has a hook choose what is shown in the place of references. */
const populates = ({ framework }: FrameworkRequest) => {
  framework.options = { populate: "next" };
  return true;
};

@rest({ route: "/documents", methods: [all({ ...hooks, ...PAGE })] })
@rest({ route: "/sent", methods: [all({ preSend: every, ...PAGE })] })
@rest({ route: "/lean", methods: [all({ ...hooks, ...PAGE, lean: true })] })
@rest({ route: "/populated", methods: [all({ ...hooks, ...PAGE, populate: { next: true } })] })
@rest({ route: "/populated-by-hook", methods: [all({ ...hooks, ...PAGE, preFetch: populates })] })
class Row extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @prop({ ref: () => Row })
  next?: Ref<Row>;
}

@rest({ route: "/parents", methods: [one()] })
class Parent extends FrameworkModel {
  @rest({ methods: [all({ ...hooks, ...PAGE })] })
  @arrayProp({ items: Row })
  rows?: Ref<Row>[];
  @rest({ methods: [all({ ...hooks, ...PAGE })] })
  @arrayProp({ items: Row, embedded: true, apart: false })
  parts?: Row[];
}

const PARENT = "0123456789abcdef01234567";

const idOf = (rank: number) => new Types.ObjectId(String(rank).padStart(24, "0"));

/** Serves lists of as many entities; gives what is sent to the database. */
async function mountRows() {
  const app = await mount([Row, Parent]);
  const rows = Array.from({ length: ENTITIES }, (_, rank) => ({
    ...{ _id: idOf(rank), rank },
    next: idOf((rank + 1) % ENTITIES),
  }));
  await getModel(Row).collection.insertMany(rows as never);
  const held = { rows: rows.map(({ _id }) => _id), parts: rows };
  await getModel(Parent).collection.insertOne(
    { _id: new Types.ObjectId(PARENT), ...held } as never,
  );
  return Object.assign(app, { sent: await watchCommands(app.database.uri) });
}

/** The lists with hooks, and what is sent before the statement of a page. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  "/documents": [],
  "/sent": [],
  "/lean": [],
  "/populated": [],
  "/populated-by-hook": [],
  [`/parents/${PARENT}/rows`]: ["find"],
};

type App = Awaited<ReturnType<typeof mountRows>>;

/** Reads a page; gives its ranks and the statements, with those that follow the answer. */
async function read({ get, sent }: App, path: string, everyNth = 1) {
  sent.length = 0;
  const headers = { "x-every": String(everyNth) };
  const { status, body } = await get<{ rank: number }[]>(path, { headers });
  assertEquals(status, 200, path);
  await new Promise((resolve) => setTimeout(resolve, 20));
  return { ranks: body.map(({ rank }) => rank), names: sent.splice(0).map(({ name }) => name) };
}

test("a page with hooks is one statement where they leave nothing out", async () => {
  await using app = await mountRows();
  for (const [list, before] of Object.entries(LISTS)) {
    for (const query of ["?", "?limit=100&", "?skip=3&", "?skip=90&"]) {
      const path = `${list}${query}${list === "/populated" ? "populate=next" : ""}`;
      const { names } = await read(app, path);
      const populates = list.startsWith("/populated") ? ["find"] : [];
      assertEquals(names, [...before, "find", ...populates], path);
    }
  }
  const parts = await read(app, `/parents/${PARENT}/parts`);
  assertEquals([parts.ranks, parts.names], [[0, 1], ["find", "aggregate"]]);
});

test("a page with hooks asks the database for the entities of the page and one more", async () => {
  await using app = await mountRows();
  for (const list of Object.keys(LISTS)) {
    app.sent.length = 0;
    await app.get(`${list}?limit=7`);
    const finds = app.sent.splice(0).filter(({ name }) => name === "find");
    assertEquals([list, finds.some(({ command }) => command.limit === 8)], [list, true]);
  }
});

test("a page reads on in one statement where hooks leave entities out", async () => {
  await using app = await mountRows();
  for (const [list, before] of Object.entries(LISTS)) {
    if (list.startsWith("/populated")) continue;
    const some = await read(app, list, 40);
    assertEquals([some.ranks, some.names], [[0, 40], [...before, "find", "find", "killCursors"]]);
    const all = await read(app, `${list}?skip=1`, ENTITIES);
    const batches = ["find", "getMore", "getMore"];
    assertEquals([all.ranks, all.names], [[], [...before, "find", ...batches]], list);
  }
  const parts = await read(app, `/parents/${PARENT}/parts`, 40);
  assertEquals([parts.ranks, parts.names], [[0, 40], ["find", "aggregate", "aggregate"]]);
});

test("a page that reads on loses and repeats nothing where others remove and add meanwhile", async () => {
  const change = async (_req: unknown, entity: object) => {
    const { rank = 0 } = entity as Row;
    const rows = getModel(Row).collection;
    if (rank === 2) await rows.deleteMany({ rank: { $in: [0, 1] } });
    if (rank === 2) await rows.insertOne({ _id: idOf(1), rank: 1 } as never);
    return rank > 2 ? entity : null;
  };
  @rest({ route: "/changed", methods: [all({ postFetch: change as never, ...PAGE })] })
  class Changed extends FrameworkModel {
    static override schemaOptions = { collection: "rows" };
    @prop({ type: Number })
    rank?: number;
  }
  await using app = await mount([Row, Changed]);
  assertEquals(getModel(Row).collection.name, "rows");
  const rows = Array.from({ length: 9 }, (_, rank) => ({ _id: idOf(rank), rank }));
  await getModel(Row).collection.insertMany(rows as never);
  const pages = await readPages(app, "/changed");
  const ranks = pages.flatMap(({ body }) => (body as { rank: number }[]).map(({ rank }) => rank));
  assertEquals(ranks, [3, 4, 5, 6, 7, 8]);
});
