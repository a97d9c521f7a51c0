import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, NOBODY } from "../../support/support.ts";
import { as, Plan, records, Remark, SECRET, serveHistory } from "./plans.ts";
import { servePlans, storedPlans } from "./plans.ts";

interface PlanBody extends Record<string, unknown> {
  readonly _id: string;
  readonly __v: number;
  readonly steps: { readonly _id: string; readonly text: string; readonly price?: number }[];
}

const WHOLE = {
  name: "a",
  tags: ["x", "y"],
  notes: { deep: { n: [1, "2"] } },
  steps: [{ text: "s" }, { text: "t" }],
  last: { text: "l" },
};

test("a revert sets every field back that its caller sees and sets", async () => {
  await using app = await servePlans();
  const made = await app.created<PlanBody>("/plans", WHOLE, as("ann"));
  const path = `/plans/${made._id}`;
  await app.updated(path, { name: "b", tags: ["z"], notes: null, state: "late" }, as("bob"));
  await app.delete(`${path}/steps/${made.steps[0]?._id}`, as("bob"));
  await app.delete(`${path}/last`, as("bob"));
  await app.patch(`${path}/steps/${made.steps[1]?._id}`, { text: "u" }, as("bob"));
  const { status, body, headers, text } = await app.post<PlanBody>(
    `${path}/revert`,
    { version: 0 },
    as("eve"),
  );
  assertEquals(status, 200, text);
  const { __v, updatedAt: _updated, changedBy, steps, last, ...others } = body;
  const { __v: _v, updatedAt: _at, changedBy: _by, steps: before, last: lastBefore, ...old } = made;
  assertEquals(others, old);
  const texts = (list: PlanBody["steps"]) => list.map(({ _id, text }) => [_id, text]);
  assertEquals(texts(steps), texts(before));
  assertEquals([Object(last).text, Object(last)._id], ["l", Object(lastBefore)._id]);
  assertEquals([__v, changedBy], [5, "eve"]);
  assertEquals(headers.get("etag")?.startsWith('"5.'), true);
  assertEquals((await records()).at(-1)?.operation, "revert");
  const again = await app.post<PlanBody>(`${path}/revert`, { version: 4 }, as("eve"));
  assertEquals([again.body.name, again.body.steps.length, again.body.last], ["b", 1, undefined]);
});

test("a revert keeps what its caller cannot see or set, also inside of parts", async () => {
  await using app = await servePlans();
  const made = await app.created<PlanBody>("/plans", {
    name: "a",
    budget: 1,
    owner: "ann",
    steps: [{ text: "s", price: 1 }, { text: "gone", price: 1 }],
  }, as("admin"));
  const path = `/plans/${made._id}`;
  const plans = getModel(Plan).collection;
  const _id = new mongoose.Types.ObjectId(made._id);
  await plans.updateOne({ _id }, {
    $set: { secret: "other", "steps.0.token": "own", "steps.1.token": "own" },
  });
  await app.updated(path, { name: "b", budget: 2, owner: "bob" }, as("admin"));
  await app.patch(`${path}/steps/${made.steps[0]?._id}`, { text: "t", price: 2 }, as("admin"));
  await app.delete(`${path}/steps/${made.steps[1]?._id}`, as("admin"));
  await app.post(`${path}/revert`, { version: 0 }, as("eve"));
  const [plan] = await storedPlans();
  assertEquals([plan?.name, plan?.budget, plan?.owner, plan?.secret], ["a", 2, "bob", "other"]);
  const steps = plan?.steps as Record<string, unknown>[];
  assertEquals(steps.map(({ text, price, token }) => [text, price, token]), [
    ["s", 2, "own"],
    ["gone", undefined, SECRET],
  ]);
  await app.post(`${path}/revert`, { version: 0 }, as("admin"));
  const [whole] = await storedPlans();
  assertEquals([whole?.name, whole?.budget, whole?.owner, whole?.secret], ["a", 1, "ann", "other"]);
});

test("a revert answers as an update does", async () => {
  await using app = await servePlans();
  const { _id } = await app.created("/plans", { name: "a", code: "one" }, as("ann"));
  const path = `/plans/${_id}/revert`;
  await app.updated(`/plans/${_id}`, { code: "two" });
  const other = await app.created("/plans", { name: "b", code: "one" });
  const revert = (body: unknown, headers = {}) =>
    app.post<{ code: string }>(path, body, { headers });
  for (
    const wrong of [{}, { version: -1 }, { version: 1.5 }, { version: "0" }, { version: 0, x: 1 }]
  ) {
    const { status, body } = await revert(wrong);
    assertEquals([status, body.code], [400, "BAD_DATA"], JSON.stringify(wrong));
  }
  assertEquals((await revert({ version: 9 })).status, 404);
  assertEquals((await revert({ version: 0 })).status, 409);
  await app.delete(`/plans/${other._id}`);
  assertEquals((await revert({ version: 0 }, { "if-match": '"0.0000000000000000"' })).status, 412);
  const { headers } = await app.get(`/plans/${_id}`);
  assertEquals(
    (await revert({ version: 0 }, { "if-match": headers.get("etag") ?? "" })).status,
    200,
  );
  assertEquals((await app.post(`/plans/${NOBODY}/revert`, { version: 0 })).status, 404);
});

test("a version whose records are gone is 404", async () => {
  await using app = await servePlans();
  const { _id } = await app.created("/plans", { name: "a" });
  for (const name of ["b", "c", "d"]) await app.updated(`/plans/${_id}`, { name });
  await mongoose.connection.collection("plans_history").deleteMany({ version: { $lt: 2 } });
  const revert = (version: number) => app.post(`/plans/${_id}/revert`, { version });
  const { status, body } = await revert(0);
  assertEquals([status, Object(body).code], [404, "NOT_FOUND"]);
  assertEquals((await revert(1)).body.name, "b");
});

@rest({ route: "/guests", methods: [create(), remove()] })
class Guest extends FrameworkModel {}

class Seat extends FrameworkModel {
  @prop({ ref: Guest, exists: true })
  guest?: Ref<Guest>;
}

@rest({ route: "/dinners", methods: [one(), create(), update()], history: true })
class Dinner extends FrameworkModel {
  @prop({ ref: Guest, exists: true })
  host?: Ref<Guest>;
  @arrayProp({ items: Guest, exists: true })
  guests!: Ref<Guest>[];
  @arrayProp({ items: Seat, embedded: true })
  seats!: Seat[];
  @prop({ type: Map, of: Seat })
  places?: Map<string, Seat>;
}

test("a revert refers to no entity that is gone where the field has `exists`", async () => {
  await using app = await serveHistory([Dinner, Guest]);
  const { _id: guest } = await app.created("/guests", {});
  const seat = { guest };
  const whole = { host: guest, guests: [guest], seats: [seat], places: { a: seat } };
  const { _id } = await app.created("/dinners", whole);
  await app.updated(`/dinners/${_id}`, { host: null, guests: [], seats: [], places: null });
  await app.delete(`/guests/${guest}`);
  const { status, body } = await app.post<ErrorBody>(`/dinners/${_id}/revert`, { version: 0 });
  const names = ["guests.0", "host", "places.a.guest", "seats.0.guest"];
  assertEquals([status, Object.keys(body.errors ?? {}).sort()], [400, names]);
});

test("a revert may refer to an entity that is gone where the field has no `exists`", async () => {
  await using app = await servePlans();
  const { _id } = await app.created("/plans", { name: "a" });
  const remark = await app.created(`/plans/${_id}/remarks`, { text: "r" });
  await app.delete(`/plans/${_id}/remarks/${remark._id}`);
  const { body } = await app.post(`/plans/${_id}/revert`, { version: 1 });
  assertEquals(body.remarks, [remark._id]);
  assertEquals(await getModel(Remark).countDocuments(), 0);
});
