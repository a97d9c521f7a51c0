import { assertEquals } from "@std/assert";
import { Framework } from "../../../mod.ts";
import { follow } from "../../../src/changes/mod.ts";
import { openLive } from "../../features/live/live.ts";
import type { Mounted } from "../../support/support.ts";
import { until } from "../../support/until.ts";
import { COMPANY, type Family } from "./papers.ts";

/** The identifiers of entities that requests find. */
export interface Made {
  readonly paper: string;
  readonly other: string;
  readonly author: string;
  readonly line: string;
  readonly note: string;
  readonly kept: string;
}

/** An application and the entities of a family in it. */
export interface Stage extends Made {
  readonly app: Mounted;
  readonly family: Family;
  /** The path of the routes of the family. */
  readonly at: string;
}

/** An application with other entities for the routes with hooks. */
interface BothStages extends Stage {
  readonly hooked: Stage;
}

type Reply = { readonly status: number; readonly text: string };

/** Sends the requests of a feature. */
type Send = (stage: BothStages) => Promise<Reply | readonly Reply[] | void>;

const NDJSON = { headers: { "content-type": "application/x-ndjson" } };

const TEXT = { headers: { "content-type": "text/plain" } };

let lastCode = 0;

/** Returns a body with a code of its own. */
function body({ family }: Pick<Stage, "family">, values: object = {}): object {
  const company = family.name === "scope" ? { company: COMPANY } : {};
  return { ...company, title: "a", code: `c${++lastCode}`, ...values };
}

/** Stores the entities of a family that the next request finds. */
export async function makeEntities(app: Mounted, family: Family): Promise<Stage> {
  const at = `/${family.name}`;
  const make = (path: string, values: object) => {
    const { code: _, title, ...rest } = body({ family }, values) as Record<string, unknown>;
    const isTitled = path.endsWith("papers") || path.endsWith("kept");
    return app.created(`${at}/${path}`, { ...rest, ...isTitled && { title } });
  };
  const author = await make("authors", { name: "Ann" });
  const paper = await make("papers", {
    ...{ region: "eu", code: `c${++lastCode}`, author: author._id },
    lines: [{ text: "t" }],
  });
  const other = await make("papers", { region: "us", pages: 2 });
  const kept = await make("kept", { lines: [{ text: "t" }] });
  const note = await app.created(
    `${at}/papers/${paper._id}/notes`,
    family.name === "scope" ? { text: "n", company: COMPANY } : { text: "n" },
  );
  const [line] = paper.lines as { _id: string }[];
  return {
    ...{ app, family, at, paper: paper._id, other: other._id, author: author._id },
    ...{ line: line?._id ?? "", note: note._id, kept: kept._id },
  };
}

/** Sends a request to the routes without hooks, and one to the routes with hooks. */
function both(send: (stage: Stage, route: string) => Promise<Reply>): Send {
  return async (stage) => {
    const { at, hooked } = stage;
    return [await send(stage, `${at}/papers`), await send(hooked, `${at}/hooked`)];
  };
}

async function live({ app, at, paper }: Stage): Promise<Reply> {
  await using list = await openLive(`${app.url}${at}/papers?sort=title`);
  await list.ready();
  // The new title is the first of the list, so the entity comes to its first page.
  const before = list.events.length;
  const reply = await app.patch(`${at}/hooked/${paper}`, { title: "0" });
  await until(() => list.events.length > before);
  return reply;
}

/** Follows a change that fails, so that it becomes a dead letter, and another one, and has the letter handled again. */
async function followed({ app, at, family, paper }: Stage): Promise<readonly Reply[]> {
  const titles: unknown[] = [];
  let isBroken = true;
  const follower = follow(family.paper, {
    name: `judge-${family.name}`,
    attempts: 1,
    onError: () => {},
    async handle({ values }) {
      if (isBroken) throw new Error("Broken");
      titles.push((await values() as { title?: unknown } | undefined)?.title);
    },
  });
  const soon = { seconds: 20 };
  try {
    await until(async () => await follower.lag() !== undefined, soon);
    const failed = await app.patch(`${at}/hooked/${paper}`, { title: "failed" });
    await until(async () => (await follower.deadLetters()).length === 1, soon);
    isBroken = false;
    const followed = await app.patch(`${at}/hooked/${paper}`, { title: "followed" });
    await until(() => titles.length === 1, soon);
    await follower.replay();
    await until(async () => (await follower.deadLetters()).length === 0, soon);
    return [failed, followed];
  } finally {
    await follower.stop();
  }
}

/** Stores an entity that can have a file, and returns its path. */
async function makeFiled({ app, at, family }: Stage): Promise<string> {
  const company = family.name === "scope" ? { company: COMPANY } : {};
  return `${at}/filed/${(await app.created(`${at}/filed`, company))._id}`;
}

/** The features, and the requests that use them. */
export const FEATURES: readonly (readonly [string, Send])[] = [
  ["`all()`", both(({ app }, route) => app.get(route))],
  ["page, `sort`", ({ app, at }) => app.get(`${at}/papers?limit=1&sort=title`)],
  [
    "total",
    ({ app, at }) => app.get(`${at}/papers?limit=1`, { headers: { prefer: "count=exact" } }),
  ],
  ["`search`", ({ app, at }) => app.get(`${at}/papers?search=a`)],
  ["groups, `distinct`", async ({ app, at }) => [
    await app.get(`${at}/papers?group=state`),
    await app.get(`${at}/papers?distinct=state`),
  ]],
  ["`populate`", ({ app, at }) => app.get(`${at}/papers?populate=author,notes`)],
  [
    "filter through a reference",
    ({ app, at }) => app.get(`${at}/keyed?q={"author.name":"Ann"}`),
  ],
  ["live list", live],
  ["`one()`", both(({ app, paper }, route) => app.get(`${route}/${paper}`))],
  [
    "several `one()` at once",
    ({ app, at, paper, other }) =>
      Promise.all([paper, other, paper].map((id) => app.get(`${at}/keyed/${id}`))),
  ],
  ["`Framework.queryFor()`", ({ app, at }) => app.get(`${at}/own`)],
  ["`create()`", both((stage, route) => stage.app.post(route, body(stage)))],
  [
    "`create({ many })`",
    both((stage, route) => stage.app.post(route, [body(stage), body(stage)])),
  ],
  [
    "import of lines",
    both((stage, route) => {
      const lines = [body(stage), body(stage)].map((each) => JSON.stringify(each)).join("\n");
      return stage.app.send("POST", route, { ...NDJSON, raw: lines });
    }),
  ],
  [
    "`Idempotency-Key`",
    both((stage, route) => {
      const headers = { "idempotency-key": crypto.randomUUID() };
      return stage.app.post(route, body(stage), { headers });
    }),
  ],
  ["`update()`", both(({ app, paper }, route) => app.patch(`${route}/${paper}`, { title: "b" }))],
  [
    "`update()` of a list",
    both(({ app, paper }, route) => app.patch(`${route}/${paper}`, { lines: [{ text: "u" }] })),
  ],
  ["`updateAll()`", both(({ app }, route) => app.patch(`${route}?q={}`, { state: "done" }))],
  ["`replace()`", both((stage, route) => stage.app.put(`${route}/${stage.paper}`, body(stage)))],
  [
    "`replace()` that creates",
    both((stage, route) => {
      const id = crypto.randomUUID().replaceAll("-", "").slice(0, 24);
      return stage.app.put(`${route}/${id}`, body(stage));
    }),
  ],
  ["`replace({ by })`", async (stage) => {
    const code = `k${++lastCode}`;
    return [
      await stage.app.put(`${stage.at}/keyed/${code}`, body(stage, { code })),
      await stage.app.put(`${stage.at}/keyed/${code}`, body(stage, { code, title: "c" })),
    ];
  }],
  ["`remove()`", both(({ app, paper }, route) => app.delete(`${route}/${paper}`))],
  ["`removeAll()`", both(({ app }, route) => app.delete(route))],
  ["`POST /batch`", (stage) => {
    const { app, at, paper, hooked } = stage;
    const requests = [
      { id: "a", method: "POST", path: `${at}/papers`, body: body(stage) },
      { id: "b", method: "PATCH", path: `${at}/papers/${paper}`, body: { pages: 3 } },
      { id: "c", method: "PATCH", path: `${at}/hooked/${hooked.paper}`, body: { pages: 3 } },
      { id: "d", method: "GET", path: `${at}/papers?limit=1`, headers: { prefer: "count=exact" } },
      { id: "e", method: "GET", path: `${at}/papers?distinct=state` },
      { id: "f", method: "GET", path: `${at}/papers/${paper}` },
      { id: "g", method: "DELETE", path: `${at}/papers/${paper}` },
    ];
    return app.post("/batch", { requests });
  }],
  ["actions", ({ app, at, paper }) => app.post(`${at}/papers/${paper}/shout`, {})],
  ["embedded parts", async ({ app, at, paper, line }) => [
    await app.get(`${at}/papers/${paper}/lines`),
    await app.post(`${at}/papers/${paper}/lines`, { text: "v" }),
    await app.patch(`${at}/papers/${paper}/lines/${line}`, { text: "w" }),
    await app.delete(`${at}/papers/${paper}/lines/${line}`),
  ]],
  ["parts that are references", async ({ app, at, paper, other, note, family }) => {
    const company = family.name === "scope" ? { company: COMPANY } : {};
    const { status } = await app.patch(`${at}/papers/${other}/author`, { name: "None" });
    assertEquals(status, 404);
    return [
      await app.patch(`${at}/papers/${paper}/author`, { name: "Eve" }),
      await app.get(`${at}/papers/${paper}/notes`),
      await app.post(`${at}/papers/${paper}/notes`, { text: "o", ...company }),
      await app.patch(`${at}/papers/${paper}/notes/${note}`, { text: "p" }),
      await app.delete(`${at}/papers/${paper}/notes/${note}`),
    ];
  }],
  ["`history`", async (stage) => {
    const { app, at, kept } = stage;
    const { code: _, ...values } = body(stage) as Record<string, unknown>;
    const [plain, hooked] = [`${at}/kept/${kept}`, `${at}/kept-hooked/${kept}`];
    return [
      await app.post(`${at}/kept`, values),
      await app.post(`${at}/kept-hooked`, values),
      await app.patch(plain, { title: "x" }),
      await app.patch(hooked, { title: "y" }),
      await app.post(`${plain}/lines`, { text: "z" }),
      await app.patch(`${at}/kept?q={}`, { title: "z" }),
      await app.get(`${plain}/history`),
      await app.post(`${plain}/revert`, { version: 1 }),
    ];
  }],
  ["`trash`", async ({ app, at, kept }) => [
    await app.delete(`${at}/kept/${kept}`),
    await app.get(`${at}/kept?trash=only`),
    await app.post(`${at}/kept/${kept}/restore`),
    await app.delete(`${at}/kept-hooked/${kept}`),
    await app.delete(`${at}/kept/${kept}?trash=only`),
    await app.delete(`${at}/kept`),
  ]],
  ["files", async (stage) => {
    const { app } = stage;
    const file = `${await makeFiled(stage)}/file`;
    return [await app.send("PUT", file, { ...TEXT, raw: "a" }), await app.get(file)];
  }],
  ["replaced and removed files", async (stage) => {
    const { app, at } = stage;
    const filed = await makeFiled(stage);
    const file = `${filed}/file`;
    const put = () => app.send("PUT", file, { ...TEXT, raw: "a" });
    return [
      ...[await put(), await put(), await app.delete(file)],
      ...[await put(), await app.delete(filed), await app.delete(`${at}/filed`)],
    ];
  }],
  // The entities that the requests of `trash` have left in the trash.
  ["`Framework.tidy()`", async () => {
    await Framework.tidy({ at: new Date(Date.now() + 40 * 24 * 60 * 60 * 1000) });
  }],
  ["`onDelete`", async (stage) => {
    const { app, at, author, paper, kept } = stage;
    const company = stage.family.name === "scope" ? { company: COMPANY } : {};
    const other = await app.created(`${at}/authors`, { name: "Bob", ...company });
    const owned = await app.created(`${at}/cascade`, { owner: author, ...company });
    return [
      await app.delete(`${at}/papers/${paper}`),
      await app.post(`${at}/cascade`, { owner: author, ...company }),
      await app.post(`${at}/unset`, { owner: author, ...company }),
      await app.patch(`${at}/cascade/${owned._id}`, { owner: other._id }),
      await app.delete(`${at}/authors/${author}`),
      await app.delete(`${at}/authors/${other._id}`),
      await app.post(`${at}/restored`, { owner: kept, ...company }),
      await app.delete(`${at}/kept/${kept}`),
      await app.post(`${at}/kept/${kept}/restore`),
    ];
  }],
  ["`follow()`", followed],
];

/** Checks that all requests of a feature have succeeded, so that the feature has sent its statements. */
export function assertSucceeded(feature: string, replies: Awaited<ReturnType<Send>>): void {
  const list = replies === undefined ? [] : [replies].flat() as Reply[];
  for (const { status, text } of list) assertEquals(status < 300, true, `${feature}: ${text}`);
}
