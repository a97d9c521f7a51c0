import { assertEquals } from "@std/assert";
import { setTimeout as after } from "node:timers/promises";
import {
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  prop,
  type Ref,
  replace,
  rest,
  RestError,
  update,
  updateAll,
} from "../../../mod.ts";
import { pass, watchCommands } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { namesOf } from "../many/many.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";
import { asQuery, type EntityBody, mount, type Mounted } from "../../support/support.ts";

const options = { many: 1000, atomic: false, formats: ["ndjson"] } as const;

const IN_SCOPE = { scope: () => ({ owner: "me", rank: { $lt: 1000 } }) };

@rest({ route: "/plain", methods: [create(options)], main: true })
@rest({ route: "/saved", methods: [create({ ...options, preSave: checked as never })] })
@rest({ route: "/sent", methods: [create({ ...options, preSend: pass as never })] })
@rest({ route: "/mine", methods: [create(options)], ...IN_SCOPE })
class Row extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ unique: true, sparse: true })
  slug?: string;
  @prop({ default: "me" })
  owner?: string;
  @prop({ select: false, default: "SECRET" })
  secret?: string;
  @prop({ ref: () => Row, exists: true })
  next?: Ref<Row>;
  @arrayProp({ items: String })
  tags?: string[];
}

/** Refuses an entity, rejects one, and gives a stored one in the place of another. */
async function checked(_req: FrameworkRequest, row: Row) {
  await after(row.rank === undefined ? 0 : row.rank % 3);
  if (row.name === "refused") throw new RestError(422, { code: "REFUSED", message: "No" });
  if (row.name === "rejected") return null;
  if (row.name !== "stored") return row;
  const stored = await getModel(Row).findOne({ name: "first" });
  return stored?.set({ rank: 77 });
}

interface Told {
  readonly line: number;
  readonly status: number;
  readonly _id?: string;
  readonly errors?: Record<string, unknown>;
}

async function send(app: Mounted, path: string, lines: readonly object[]): Promise<Told[]> {
  const raw = lines.map((line) => JSON.stringify(line)).join("\n");
  const headers = { "content-type": "application/x-ndjson" };
  const { status, text } = await app.send("POST", path, { raw, headers });
  assertEquals(status, 207, text);
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}

async function open(model: ModelClass, mongo?: string) {
  const app = await mount([model], { mongo });
  await getModel(model).init();
  const sent = await watchCommands(app.database.uri);
  return Object.assign(app, { sent });
}

const rows = Array.from({ length: 500 }, (_, rank) => ({ name: `${rank}`, rank }));

test("an import of a class that needs documents is one statement for each batch", async () => {
  await using app = await open(Row);
  for (
    const [path, statements] of Object.entries({
      "/plain": ["insert"],
      "/saved": ["insert"],
      "/sent": ["insert", "find"],
      "/mine": ["aggregate", "insert"],
    })
  ) {
    app.sent.length = 0;
    const told = await send(app, path, rows);
    assertEquals(told.filter(({ status }) => status === 201).length, 500, JSON.stringify(told[0]));
    const names = namesOf(app.sent).filter((name) => name !== "getMore");
    assertEquals(names, statements, path);
    const stored = await getModel(Row).find({}, "+secret").sort({ rank: 1 });
    assertEquals(stored.map((each) => String(each._id)), told.map(({ _id }) => _id));
    assertEquals(
      new Set(stored.map(({ secret, __v }) => `${secret} ${__v}`)),
      new Set(["SECRET 0"]),
    );
    await getModel(Row).deleteMany({});
  }
});

test("an import of documents looks all references of a batch up at once", async () => {
  await using app = await open(Row);
  const [first] = await send(app, "/plain", [{ name: "first" }]);
  app.sent.length = 0;
  const next = [first?._id, "0123456789abcdef01234567", first?._id];
  const told = await send(app, "/saved", next.map((each) => ({ name: "a", next: each })));
  assertEquals(told.map(({ status }) => status), [201, 400, 201]);
  assertEquals(Object.keys(told[1]?.errors ?? {}), ["next"]);
  assertEquals(namesOf(app.sent).sort(), ["find", "insert"]);
});

test("a line that is wrong does not concern the others of its batch", async () => {
  await using app = await open(Row);
  await send(app, "/plain", [{ name: "first", slug: "taken" }]);
  const lines = [
    ...[{ name: "a" }, {}, { name: "refused" }, { name: "b", slug: "taken" }, { name: "rejected" }],
    ...[{ name: "c", rank: "x" }, { name: "stored" }, { name: "d", slug: "free" }],
  ];
  const told = await send(app, "/saved", lines);
  assertEquals(told.map(({ status }) => status), [201, 400, 422, 409, 403, 400, 201, 201]);
  assertEquals(Object.keys(told[5]?.errors ?? {}), ["rank"]);
  const names = (await getModel(Row).find().sort({ _id: 1 })).map(({ name }) => name);
  assertEquals(names.sort(), ["a", "d", "first"]);
  assertEquals((await getModel(Row).findOne({ name: "first" }))?.rank, 77);
  const scoped = [{ name: "in" }, { name: "out", rank: 5000 }, { name: "other", owner: "you" }];
  const fates = await send(app, "/mine", [...scoped, { name: "also in", rank: 1 }]);
  assertEquals(fates.map(({ status }) => status), [403, 403, 403, 201]);
});

@rest({
  route: "/fixed",
  methods: [
    create(),
    update(),
    updateAll({ fields: ["state"] }),
    replace({ by: "name" }),
  ],
})
@rest({
  route: "/slow",
  methods: [
    update({ preSave: pass as never }),
    updateAll({ fields: ["state"], preSave: pass as never }),
    replace({ by: "name", preSave: pass as never }),
  ],
})
class Fixed extends FrameworkModel {
  @prop({ unique: true, immutable: true })
  name!: string;
  @prop()
  state?: string;
  @prop({ immutable: true, default: "2020" })
  since?: string;
  @arrayProp({ items: String, immutable: true })
  marks?: string[];
}

/** A change by each way: without documents first, then with them. */
async function bothWays(app: Mounted, change: (route: string) => Promise<unknown>) {
  const seen: unknown[] = [];
  for (const route of ["/fixed", "/slow"]) {
    await getModel(Fixed).collection.deleteMany({});
    await app.created("/fixed", { name: "a", state: "new", since: "1999", marks: ["m"] });
    await change(route);
    const stored = await getModel(Fixed).collection.find({}, { projection: { _id: 0 } }).toArray();
    seen.push(stored);
  }
  assertEquals(seen[0], seen[1]);
  return seen[0];
}

test("an immutable field that the body does not name costs updates no statement", async () => {
  await using mongo = await openReplicaSet();
  await using app = await open(Fixed, mongo.uri);
  const { _id } = await app.created("/fixed", { name: "a", since: "1999" });
  const statementsOf = async (work: () => Promise<unknown>) => {
    app.sent.length = 0;
    await work();
    return namesOf(app.sent).filter((name) => !/Transaction$/.test(name));
  };
  const state = { state: "x" };
  // The first PUT looks whether the unique index is there.
  await app.put("/fixed/a", state);
  const all = () => app.patch(`/fixed${asQuery({})}`, state);
  assertEquals(await statementsOf(all), ["aggregate", "update"]);
  assertEquals(await statementsOf(() => app.patch(`/fixed/${_id}`, state)), ["findAndModify"]);
  assertEquals(await statementsOf(() => app.put("/fixed/a", state)), ["findAndModify"]);
  assertEquals(await statementsOf(() => app.put("/fixed/b", state)), ["findAndModify"]);
});

test("an immutable field is stored as documents store it", async () => {
  await using mongo = await openReplicaSet();
  await using app = await open(Fixed, mongo.uri);
  const bodies: object[] = [{ state: "x" }, { since: "2000" }, { since: null }, { marks: ["n"] }];
  for (const body of [...bodies, { state: "y", since: "2001" }, {}]) {
    for (
      const change of [
        (route: string) => app.put(`${route}/a`, body),
        (route: string) => app.put(`${route}/b`, body),
        (route: string) => app.patch(`${route}${asQuery({})}`, { state: "x", ...body }),
      ]
    ) {
      const stored = await bothWays(app, change) as EntityBody[];
      assertEquals([stored[0]?.since, stored[0]?.marks], ["1999", ["m"]], JSON.stringify(body));
    }
  }
});
