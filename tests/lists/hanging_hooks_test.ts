import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, getModel, one, prop, rest } from "../../mod.ts";
import type { FrameworkRequest, HooksOf } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { mountLive } from "../features/live/live.ts";
import { mount } from "../support/support.ts";
import { openCursors, until } from "../support/until.ts";

let hanging = 0;

/** A hook that never ends, except for some entities. */
function hang(_req: FrameworkRequest, row: Row): Promise<Row> | Row {
  if (row.text !== "hangs") return row;
  hanging++;
  return new Promise(() => {});
}

class Row extends FrameworkModel {
  @prop()
  text?: string;
}

const stored = () => getModel(Rows);

const CASES: Readonly<Record<string, HooksOf<Row>>> = {
  postFetch: { postFetch: hang },
  preSend: { preSend: hang },
  lean: { postFetch: hang, lean: true } as never,
  formats: { postFetch: hang, formats: ["ndjson", "csv"] },
  fetch: { postFetch: hang, fetch: () => stored().find().cursor({ batchSize: 5 }) as never },
  query: { postFetch: hang, fetch: () => stored().collection.find({}, { batchSize: 5 }) as never },
};

@rest({ route: "/rows", methods: [all()] })
class Rows extends Row {}

@rest({ route: "/holders", methods: [one()] })
class Holder extends FrameworkModel {
  @rest({ route: "/rows", methods: [all<Row>({ postFetch: hang })] })
  @arrayProp({ items: Rows })
  rows?: mongoose.Types.ObjectId[];
}

/** Stores more than a batch of rows, of which one in the middle hangs. */
async function storeRows(collection: { insertMany(rows: never): Promise<unknown> }) {
  const text = "x".repeat(50_000);
  const rows = Array.from({ length: 600 }, (_, index) => ({
    _id: new mongoose.Types.ObjectId(),
    text: index === 20 ? "hangs" : text,
  }));
  await collection.insertMany(rows as never);
  return rows.map(({ _id }) => _id);
}

/** Asks for a list several times, and leaves when hooks hang. */
async function leaveHanging(url: string, accept: string) {
  hanging = 0;
  const leave = new AbortController();
  const asked = Array.from(
    { length: 4 },
    () =>
      fetch(url, { headers: { accept }, signal: leave.signal }).then(
        (answer) => answer.text(),
        () => {},
      ).catch(() => {}),
  );
  await until(() => hanging >= asked.length);
  // A cursor whose next batch is being read is not counted
  await until(async () => await openCursors() === asked.length);
  leave.abort();
  await Promise.all(asked);
  await until(async () => await openCursors() === 0);
}

for (const [name, hooks] of Object.entries(CASES)) {
  test(`the cursor of a list is closed when its client leaves a hook that never ends: ${name}`, async () => {
    @rest({ route: "/lists", methods: [all<Row>(hooks)] })
    class List extends Row {}
    await using app = await mount([List, Rows]);
    await storeRows(getModel(name in { fetch: 1, query: 1 } ? Rows : List).collection);
    const accept = name === "formats" ? "application/x-ndjson" : "application/json";
    await leaveHanging(`${app.url}/lists`, accept);
  });
}

test("the cursor of a sub-resource is closed when its client leaves a hook that never ends", async () => {
  await using app = await mount([Holder, Rows]);
  const rows = await storeRows(getModel(Rows).collection);
  const { _id } = await getModel(Holder).create({ rows });
  await leaveHanging(`${app.url}/holders/${_id}/rows`, "*/*");
});

test("the cursor of a live list is closed when its client leaves a hook that never ends", async () => {
  @rest({ route: "/live", methods: [all<Row>({ postFetch: hang, live: true })] })
  class Live extends Row {}
  await using app = await mountLive([Live]);
  await storeRows(getModel(Live).collection);
  const accept = "text/event-stream";
  hanging = 0;
  const leave = new AbortController();
  const asked = fetch(`${app.url}/live`, { headers: { accept }, signal: leave.signal }).catch(
    () => {},
  );
  await until(() => hanging === 1);
  const held = await openCursors();
  leave.abort();
  await asked;
  await until(async () => await openCursors() < held);
});
