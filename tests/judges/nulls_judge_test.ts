import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  onlyIf,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  StoredFile,
  update,
  updateAll,
} from "../../mod.ts";
import { readPages } from "../features/page/links.ts";
import { longTest } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { openNullsOfNine } from "../support/nulls_of_nine.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { asQuery, mount, type Mounted } from "../support/support.ts";

const PART = [one(), create(), update(), remove()];

class Writer extends FrameworkModel {
  @prop()
  name?: string;
}

class Remark extends FrameworkModel {
  @prop()
  text?: string;
  @rest({ methods: [one(), replace(), remove()] })
  @prop({ type: StoredFile, maxBytes: 1000 })
  file?: StoredFile;
}

class Inner extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
  @rest({ methods: PART })
  @prop({ type: Remark })
  remark?: Remark;
  @rest({ methods: PART })
  @prop({ ref: () => Writer, onDelete: "unset" })
  writer?: Ref<Writer>;
  @rest({ methods: [all(), ...PART] })
  @arrayProp({ items: Remark, embedded: true })
  remarks?: Remark[];
}

const METHODS = [one(), create(), update(), replace(), remove()];

const KEPT = { trash: { keep: "30d", see: () => true }, history: true } as const;

const DIRECTIONS: Readonly<Record<string, 1 | -1>> = { up: 1, down: -1 };

@rest({ route: "/writers", methods: METHODS })
class Author extends Writer {}

@rest({
  route: "/papers",
  methods: [
    all<Paper>({
      page: { size: 2, max: 50 },
      count: true,
      preFetch(req) {
        const direction = DIRECTIONS[String(req.headers["x-sort"])];
        if (direction !== undefined) req.framework.options.sort = { "inner.rank": direction };
        return true;
      },
    }),
    ...METHODS,
    updateAll({ fields: ["title"] }),
    removeAll(),
  ],
  main: true,
  ...KEPT,
})
@rest({
  route: "/hooked",
  methods: [
    one({ postFetch: pass }),
    update({ preSave: pass }),
    remove({ preSave: pass }),
  ],
  ...KEPT,
})
@rest({
  route: "/named",
  methods: [
    update<Paper>({ postFetch: onlyIf(["inner"], (_req, { inner }) => inner !== undefined) }),
  ],
  ...KEPT,
})
class Paper extends FrameworkModel {
  @prop()
  title?: string;
  @rest({ methods: PART })
  @prop({ type: Inner })
  inner?: Inner;
}

const idOf = (at: number) => new mongoose.Types.ObjectId(String(at).padStart(24, "0"));

/** Values of `inner`, on which conditions such as `{ "inner.rank": null }` differ between the versions, and others. */
const INNERS: readonly unknown[] = [
  ...[undefined, null, [], [1], [[{ rank: 1 }]], [{ rank: 3 }, {}], [{ rank: null }], 5, {}],
  ...[{ rank: null }, { rank: 1 }, { rank: 2 }, { rank: [] }, { rank: 3, remark: null }],
  ...[{ rank: 4, remark: [] }, { remark: { text: "a" } }, { writer: [] }, { writer: null }],
  ...[{ remarks: [] }, { remarks: [{ _id: idOf(99), text: "b" }] }, { remarks: null }],
];

const SENT = INNERS.map((_, at) => `/${idOf(at)}`);

/** What a request answers. New identifiers and times differ from run to run. */
function outcome({ status, text }: { readonly status: number; readonly text: string }): string {
  return `${status} ${text.replaceAll(/(?!0{20})[0-9a-f]{24}|"\d{4}-[^"]*Z"/g, "*")}`;
}

/** Requests, by what they use. Each begins with the entities as they are stored by another program. */
const SCENARIOS: Readonly<Record<string, (app: Mounted) => Promise<string[]>>> = {
  async "pages"(app) {
    // Pages are exact for the types that fields have, and for values below which the path ends.
    const isArray = { "inner.0": { $type: "object" } };
    await getModel(Paper).collection.deleteMany({
      $or: [isArray, { "inner.0": { $type: "array" } }],
    });
    const read = (direction: string) =>
      readPages(app, "/papers", { headers: { "x-sort": direction } });
    return [...await read("up"), ...await read("down")].map(outcome);
  },
  "parts": (app) =>
    forEach((id) => [
      () => app.post(`/papers${id}/inner`, { rank: 7 }),
      () => app.get(`/papers${id}/inner`),
      () => app.patch(`/papers${id}/inner`, { rank: null }),
      () => app.delete(`/papers${id}/inner`),
    ]),
  "parts of parts": (app) =>
    forEach((id) => [
      () => app.post(`/papers${id}/inner/remark`, { text: "c" }),
      () => app.patch(`/papers${id}/inner/remark`, { text: null }),
      () => app.delete(`/papers${id}/inner/remark`),
      () => app.post(`/papers${id}/inner/remarks`, { text: "d" }),
      () => app.get(`/papers${id}/inner/remarks`),
    ]),
  "references": (app) =>
    forEach((id) => [
      () => app.post(`/papers${id}/inner/writer`, { name: "e" }),
      () => app.patch(`/papers${id}/inner/writer`, { name: null }),
      () => app.delete(`/papers${id}/inner/writer`),
    ]),
  "files": (app) =>
    forEach((id) =>
      ["f", "g"].map((raw) => () =>
        app.send("PUT", `/papers${id}/inner/remark/file`, {
          headers: { "content-type": "text/plain" },
          raw,
        })
      )
    ),
  "writes": (app) =>
    forEach((id) => [
      () => app.patch(`/papers${id}`, { inner: { rank: null } }),
      () => app.patch(`/hooked${id}`, { inner: { rank: 8 } }),
      () => app.patch(`/hooked${id}`, { inner: { rank: null } }),
      () => app.patch(`/named${id}`, { title: "h" }),
      () => app.put(`/papers${id}`, { title: "i" }),
    ]),
  "hooks": (app) =>
    forEach((id) => [
      () => app.patch(`/hooked${id}`, { inner: { rank: 8 } }),
      () => app.patch(`/named${id}`, { title: "h" }),
      () => app.get(`/hooked${id}`),
    ]),
  async "trash"(app) {
    const some = await forEach((id) => [
      () => app.delete(`/papers${id}`),
      () => app.post(`/papers${id}/restore`),
      () => app.get(`/papers${id}/history`),
      () => app.delete(`/hooked${id}`),
    ]);
    return [...some, outcome(await app.get("/papers?trash=only&limit=50"))];
  },
  async "many"(app) {
    return [
      outcome(await app.patch("/papers?q={}", { title: "j" })),
      outcome(await app.get("/papers?limit=50", { headers: { prefer: "count=exact" } })),
      outcome(await app.delete("/papers")),
    ];
  },
};

/** Sends requests to each entity, one after the other. */
async function forEach(
  calls: (id: string) => readonly (() => Promise<{ status: number; text: string }>)[],
): Promise<string[]> {
  const answers: string[] = [];
  for (const id of SENT) {
    for (const call of calls(id)) answers.push(outcome(await call()));
  }
  return answers;
}

/** The conditions on `null` below which the stored values may have arrays: those of pages, of new parts and of `q`. */
const CHANGED = [
  ...["find inner.rank $eq", "find inner.rank $lte"],
  ...["findAndModify inner.remark $eq", "update inner.writer $eq"],
];

/** Runs the scenarios, and returns all answers. */
async function runAll(mongo: string): Promise<Record<string, string[]>> {
  await using app = await mount([Paper, Author], { mongo, actor: () => "ann", onError: () => {} });
  const { collection } = getModel(Paper);
  await Promise.all([Paper, Author].map((each) => getModel(each).init()));
  const stored = INNERS.map((inner, at) => ({
    ...{ _id: idOf(at), title: `${at}` },
    ...inner !== undefined && { inner },
  }));
  const found: Record<string, string[]> = {};
  for (const [name, run] of Object.entries(SCENARIOS)) {
    await collection.deleteMany({});
    await collection.insertMany(stored as never[]);
    found[name] = await run(app);
  }
  await collection.deleteMany({});
  await collection.insertMany(stored as never[]);
  const q = asQuery({ "inner.rank": null });
  found["the filter of a client"] = [outcome(await app.get(`/papers${q}&limit=50`))];
  return found;
}

longTest(
  "answers do not depend on the meaning of null below arrays, but for filters of clients",
  async () => {
    const to = await sharedReplicaSet();
    const separator = to.includes("?") ? "&" : "?";
    const { "the filter of a client": older, ...before } = await runAll(
      `${to}${separator}directConnection=true`,
    );
    using nine = openNullsOfNine(to);
    const { "the filter of a client": newer, ...after } = await runAll(
      `${nine.uri}?directConnection=true`,
    );
    for (const [name, answers] of Object.entries(before)) {
      for (const [at, each] of answers.entries()) assertEquals(after[name]?.[at], each, name);
    }
    assert(older?.join() !== newer?.join(), "The proxy changes nothing");
    assertEquals([...new Set(nine.changed)].sort(), CHANGED);
  },
);
