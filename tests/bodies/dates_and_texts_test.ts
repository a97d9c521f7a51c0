import { assertEquals } from "@std/assert";
import { z } from "zod";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  replace,
  rest,
  update,
  updateAll,
} from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount, type Mounted } from "../support/support.ts";
import { openReplicaSet } from "../support/shared_replica_set.ts";

class Inner extends FrameworkModel {
  @prop({ type: Date })
  at?: Date;
  @prop()
  text?: string;
}

const methods = [
  all({ filter: ["at", "dates", "map", "inner.at", "free", "text", "inners.at", "texts"] }),
  one(),
  update(),
] as const;

class Base extends FrameworkModel {
  @prop({ type: Date })
  at?: Date;
  @prop({ type: Date, unique: true, default: () => new Date() })
  key?: Date;
  @prop()
  text?: string;
  @arrayProp({ items: Date })
  dates?: Date[];
  @arrayProp({ items: String })
  texts?: string[];
  @prop({ type: Map, of: Date })
  map?: Map<string, Date>;
  @prop({ type: Map, of: String })
  words?: Map<string, string>;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Object })
  free?: unknown;
  @rest({ methods: [all(), create(), update()] })
  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];
}

@rest({
  route: "/days",
  methods: [
    ...methods,
    create({ many: 5 }),
    updateAll({ max: 9, fields: ["at", "text", "free"] }),
    replace({ by: "key" }),
    action("model", { on: "one", body: Inner, run: (_req, day: Entity<Day>) => day }),
    action("schema", {
      on: "one",
      body: z.object({ text: z.string() }),
      run: (_req, day: Entity<Day>) => day,
    }),
  ],
})
class Day extends Base {
  static override schemaOptions = { collection: "days" };
}

@rest({
  route: "/hooked",
  methods: [
    all(),
    one(),
    create({ preSave: pass, many: 5, atomic: false, formats: ["ndjson"] }),
    update({ preSave: pass }),
    updateAll({ preSave: pass, max: 9, fields: ["at", "text", "free"] }),
  ],
})
class Hooked extends Base {
  static override schemaOptions = { collection: "days" };
}

async function open(run: (app: Mounted, id: string) => Promise<void>): Promise<void> {
  await using mongo = await openReplicaSet();
  await using app = await mount([Day, Hooked], { mongo: mongo.uri });
  const day = await getModel(Day).create({ key: new Date(0), inners: [{ text: "a" }] });
  await run(app, String(day._id));
  assertEquals(await getModel(Day).countDocuments(), 1);
}

const NO_DAYS = ["2026-02-30", "2026-13-01", "2025-02-29T10:00:00Z", "1900-02-29", "2026-04-31"];

/** Sends each body by each operation, and expects a problem of one kind at its path. */
async function refuseBodies(
  bodies: Readonly<Record<string, object>>,
  { kind, app, id }: { readonly kind: string; readonly app: Mounted; readonly id: string },
): Promise<void> {
  for (const [path, body] of Object.entries(bodies)) {
    const sent = JSON.stringify(body);
    const replies = [
      await app.post<ErrorBody>("/days", body),
      await app.post<ErrorBody>("/hooked", body),
      await app.patch<ErrorBody>(`/days/${id}`, body),
      await app.patch<ErrorBody>(`/hooked/${id}`, body),
      await app.put<ErrorBody>("/days/1970-01-01T00:00:00.000Z", body),
      await app.put<ErrorBody>("/days/1980-01-01", body),
    ];
    if (["at", "text", "free", "free.a.0"].includes(path)) {
      replies.push(
        await app.patch<ErrorBody>(`/days${asQuery({})}`, body),
        await app.patch<ErrorBody>(`/hooked${asQuery({})}`, body),
      );
    }
    for (const [index, { status, body, text }] of replies.entries()) {
      assertEquals([status, body.code], [400, "BAD_DATA"], `${index} ${sent} ${text}`);
      assertEquals(body.errors?.[path]?.kind, kind, `${index} ${sent} ${text}`);
    }
    const many = await app.post<ErrorBody>("/days", [{}, body]);
    assertEquals([many.status, many.body.errors?.[`1.${path}`]?.kind], [400, kind], many.text);
  }
}

test("a body with a day that does not exist is refused", () =>
  open(async (app, id) => {
    for (const at of NO_DAYS) await refuseBodies({ at: { at } }, { kind: "Date", app, id });
    const [day] = NO_DAYS;
    await refuseBodies({
      "dates.1": { dates: ["2026-02-28", day] },
      "map.k": { map: { k: day } },
      "inner.at": { inner: { at: day } },
      "inners.0.at": { inners: [{ at: day }] },
    }, { kind: "Date", app, id });
    const parts = await app.post<ErrorBody>(`/days/${id}/inners`, { at: day });
    assertEquals([parts.status, parts.body.errors?.at?.kind], [400, "Date"]);
    const acted = await app.post<ErrorBody>(`/days/${id}/model`, { at: day });
    assertEquals([acted.status, acted.body.errors?.at?.kind], [400, "Date"]);
    assertEquals((await app.put("/days/2026-02-30", {})).status, 404);
  }));

test("a line with a day that does not exist, or half of a pair, is refused", () =>
  open(async (app) => {
    const lines = [`{"at":"2026-02-30"}`, `{"text":"\\ud800"}`, `{"free":{"\\ud800":1}}`];
    const reply = await app.send("POST", "/hooked", {
      raw: lines.join("\n"),
      headers: { "content-type": "application/x-ndjson" },
    });
    const told = reply.text.trim().split("\n").map((line) => JSON.parse(line));
    assertEquals(told.map(({ status }) => status), [400, 400, 400], reply.text);
  }));

test("a q with a day that does not exist is refused", () =>
  open(async (app) => {
    const filters = NO_DAYS.flatMap((at): object[] => [
      ...[{ at }, { at: { $gt: at } }, { at: { $in: ["2026-01-01", at] } }, { dates: at }],
      ...[{ "map.k": at }, { "inner.at": at }, { at: { $date: at } }, { free: { $date: at } }],
      ...[{ inners: { $elemMatch: { at } } }, { $or: [{ at: { $not: { $lt: at } } }] }],
    ]);
    for (const filter of filters) {
      const reply = await app.get<ErrorBody>(`/hooked${asQuery(filter)}`);
      assertEquals([reply.status, reply.body.code], [400, "BAD_FORMAT"], JSON.stringify(filter));
    }
    const leap = { at: { $in: ["2024-02-29", { $date: "2000-02-29T00:00:00Z" }] } };
    assertEquals((await app.get(`/days${asQuery(leap)}`)).status, 200);
  }));

test("half of a surrogate pair in a body is refused", () =>
  open(async (app, id) => {
    await refuseBodies({
      text: { text: "a\ud800" },
      "texts.0": { texts: ["\udc00"] },
      "words.k": { words: { k: "\ud800" } },
      "inner.text": { inner: { text: "\ud801" } },
      "inners.0.text": { inners: [{ text: "\ud800" }] },
      "free.a.0": { free: { a: ["\ud800"] } },
      free: { free: "\ud800" },
    }, { kind: "unicode", app, id });
    await refuseBodies({ words: { words: { "\ud800": "k" } } }, { kind: "key", app, id });
    await refuseBodies({ free: { free: { "\ud800": 1 } } }, { kind: "key", app, id });
    for (const name of ["model", "schema"]) {
      const acted = await app.post<ErrorBody>(`/days/${id}/${name}`, { text: "\ud800" });
      assertEquals([acted.status, acted.body.errors?.text?.kind], [400, "unicode"], acted.text);
    }
    const whole = await app.patch<{ text: string }>(`/days/${id}`, { text: "\ud83d\ude00" });
    assertEquals([whole.status, whole.body.text], [200, "😀"]);
  }));

test("half of a surrogate pair in q is refused", () =>
  open(async (app) => {
    const filters = [
      ...[{ text: "\ud800" }, { text: { $in: ["a", "\udc00"] } }, { text: { $regex: "\ud800" } }],
      ...[{ free: { a: "\ud800" } }, { free: { "\ud800": 1 } }, { $or: [{ texts: "\ud800" }] }],
    ];
    for (const filter of filters) {
      const reply = await app.get<ErrorBody>(`/days${asQuery(filter)}`);
      assertEquals([reply.status, reply.body.code], [400, "BAD_FORMAT"], JSON.stringify(filter));
    }
  }));
