import { assertEquals } from "@std/assert";
import {
  action,
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
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount } from "../support/support.ts";

class Range extends FrameworkModel {
  @prop({ type: Number })
  from?: number;
  @prop({ type: Number })
  to?: number;
}

class Span extends Range {
  @prop({ hidden: true })
  code?: string;
}

const isOrdered = ({ from = 0, to = 0 }: Range) => from <= to;

class Shift extends FrameworkModel {
  @prop({ type: Span, validate: isOrdered })
  span?: Span;
}

class Roster extends FrameworkModel {
  @prop({ type: Span, validate: isOrdered })
  span?: Span;
  @prop({ type: Shift })
  main?: Shift;
  @arrayProp({ items: Shift, embedded: true })
  shifts!: Shift[];
  @prop({ type: Range, validate: isOrdered })
  range?: Range;
  @prop()
  note?: string;
}

const shorten = action("shorten", {
  on: "one",
  run: async (_req, roster: Entity<PlainRoster>) => {
    roster.set("range.to", 0);
    return await roster.save();
  },
});

@rest({ route: "/rosters", methods: [one(), create(), update(), replace(), shorten] })
class PlainRoster extends Roster {}

@rest({
  route: "/kept-rosters",
  methods: [one(), create(), update({ preSave: (_req, roster) => roster }), replace()],
})
class KeptRoster extends Roster {}

const span = { from: 2, to: 3, code: "SECRET" };

for (const route of ["/rosters", "/kept-rosters"]) {
  test(`validators of objects run when ${route} get a change inside`, async () => {
    await using app = await mount([PlainRoster, KeptRoster]);
    const made = await app.created<EntityBody & { shifts: EntityBody[] }>(route, {
      ...{ span, main: { span }, shifts: [{ span }] },
    });
    const [{ _id }] = made.shifts as [EntityBody];
    const path = `${route}/${made._id}`;
    const refused: [string, object][] = [
      ["span", { span: { to: 1 } }],
      ["main.span", { main: { span: { from: 4 } } }],
      ["shifts.0.span", { shifts: [{ _id, span: { from: 4, to: 1 } }] }],
    ];
    for (const [field, body] of refused) {
      const { status, body: { errors }, text } = await app.patch<ErrorBody>(path, body);
      assertEquals([status, Object.keys(errors ?? {})], [400, [field]], text);
      assertEquals(text.includes("SECRET"), false, text);
    }
    const { status } = await app.put(path, { span: { from: 5, to: 1 } });
    assertEquals([status, await app.read(path)], [400, made]);
    const { span: changed } = await app.updated<EntityBody & { span: Span }>(path, {
      span: { to: 5 },
    });
    assertEquals([changed.from, changed.to], [2, 5]);
  });
}

test("validators of objects run when an action saves a change inside, and not for other changes", async () => {
  await using app = await mount([PlainRoster]);
  const { _id } = await app.created("/rosters", { range: { from: 2, to: 3 } });
  assertEquals((await app.post(`/rosters/${_id}/shorten`)).status, 400);
  await getModel(PlainRoster).collection.updateOne({}, { $set: { "range.to": 0 } });
  assertEquals((await app.patch(`/rosters/${_id}`, { note: "x" })).status, 200);
});
