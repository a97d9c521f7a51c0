import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { getModel, type ModelClass } from "../../mod.ts";
import { casesOf, report } from "../harness/report.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { mount, type Mounted } from "../support/support.ts";
import { Random } from "./twins/random.ts";
import { ask, type Place, send, type Told, USER } from "./written/requests.ts";
import { sheets } from "./written/sheets.ts";
import { followStates, valueAt } from "./written/stored_states.ts";

const SEED = Number(Deno.env.get("WRITTEN_SEED") ?? 20261128);

/** How many requests are judged. `WRITTEN_REQUESTS=10000` is the long run. */
const REQUESTS = Number(Deno.env.get("WRITTEN_REQUESTS") ?? casesOf(120, 40));

const WRITERS = 6;

type State = Readonly<Record<string, unknown>>;

function firstValues() {
  const id = () => new mongoose.Types.ObjectId();
  const lines = [0, 1].map(() => ({ _id: id(), a: 0, b: 0 }));
  const inner = { _id: id(), x: 0, y: 0 };
  const values = { a: 0, b: 0, c: 0, inner, counts: {}, free: {}, list: [0], lines };
  return { _id: id(), __v: 0, ...values };
}

async function write(app: Mounted, place: Place, hasHistory: boolean): Promise<Told[]> {
  const random = new Random(SEED);
  const told: Told[] = [];
  let sent = 0;
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (sent < REQUESTS) {
      const user = `r${sent++}`;
      const asked = ask(random, place, hasHistory);
      told.push(await send(app, { user, lingers: random.below(4), asked }));
    }
  }));
  return told;
}

/** Holds each answer against the entity right after the write of its request, which the stamp names. */
function judge(told: readonly Told[], states: readonly State[]): Record<string, number> {
  const byUser = new Map(states.map((state) => [state.by, state]));
  const counts: Record<string, number> = {};
  for (const each of told) {
    const { user, way, status, text, tag, sets, part } = each;
    const name = `${way}: ${status}`;
    counts[name] = (counts[name] ?? 0) + 1;
    const state = byUser.get(user);
    const about = JSON.stringify(each);
    assertEquals(state !== undefined, status === 200, about);
    if (state === undefined) continue;
    for (const [path, value] of Object.entries(sets)) {
      assertEquals(valueAt(state, path), value === USER ? user : value, `${path} of ${about}`);
    }
    if (part === null) continue;
    const shown = part === undefined ? state : valueAt(state, part);
    assertEquals(JSON.parse(text), shown, about);
    assertEquals(tag?.split(".")[0], `"${state.__v}`, about);
  }
  return counts;
}

async function judgeWriters(model: ModelClass, hasHistory: boolean): Promise<string> {
  const mongo = await sharedReplicaSet();
  await using app = await mount([model], { mongo, actor: (req) => req.get("x-user") });
  const { collection } = getModel(model);
  await getModel(model).createCollection();
  const first = firstValues();
  const { end } = await followStates(collection, first);
  const place = { id: String(first._id), lines: first.lines.map(({ _id }) => String(_id)) };
  const told = await write(app, place, hasHistory);
  const states = await end();
  // Each state is that of one write, whose sender it names.
  assertEquals(states.map(({ __v }) => __v), states.map((_, index) => index));
  assertEquals(new Set(states.map(({ by }) => by)).size, states.length);
  const counts = judge(told, states);
  const stored = told.filter(({ status }) => status === 200).length;
  assert(2 * stored > told.length, JSON.stringify(counts));
  return JSON.stringify(counts);
}

for (const history of [undefined, true] as const) {
  const kind = history ? "with a history" : "without a history";
  test(`each answer shows what its write has stored, ${kind}`, async () => {
    const counts = await judgeWriters(sheets(history), history === true);
    await report(`writers ${kind}, seed ${SEED}: ${counts}`);
  });
}
