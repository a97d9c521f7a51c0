import { assertEquals } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  rest,
  type Restricted,
  update,
} from "../../mod.ts";
import { type JsonSchema, mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";
import { asQuery } from "../support/support.ts";

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";
const AS_AGENT = { headers: { "x-role": "agent" } };

class Inner extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ required: true, hidden: isCustomer })
  remark!: Restricted<string>;
}

const filter = ["state", "inner.text", "free"] as const;

@rest({
  route: "/tickets",
  methods: [all({ filter, sort: ["score"] }), one(), create(), update()],
})
class Ticket extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ required: true, readonly: isCustomer, default: "open" })
  state!: string;
  @prop({ required: true, hidden: isCustomer, default: "none" })
  note!: Restricted<string>;
  @prop({ type: Number, required: true, hidden: isCustomer, default: 0 })
  score!: Restricted<number>;
  @prop({ hidden: true })
  secret?: string;
  @prop({ type: Inner })
  inner?: Inner;
  @prop({ type: Object })
  free?: object;
  @rest({ methods: [all(), create()], scope: () => ({}) })
  @arrayProp({ items: Inner, embedded: true, apart: true })
  apart?: Inner[];
}

type Described = JsonSchema & {
  readonly required?: readonly string[];
  readonly properties: object;
};

test("what a function may hide is described, and required nowhere", async () => {
  await using app = await mountDocumented([Ticket]);
  const schema = (name: string) => app.schemas[name] as Described;
  assertEquals(schema("Ticket").required?.toSorted(), ["__v", "_id", "state", "title"]);
  assertEquals(schema("TicketNew").required, ["title"]);
  assertEquals(schema("Inner").required?.toSorted(), ["_id", "text"]);
  assertEquals(schema("InnerNew").required, ["text"]);
  for (const name of ["note", "score"]) {
    for (const each of ["Ticket", "TicketNew"]) {
      assertEquals([each, name, name in schema(each).properties], [each, name, true]);
      // A default would tell what is stored to whom it is hidden from.
      const { default: told } = Object(schema(each).properties)[name] as { default?: unknown };
      assertEquals([each, name, told], [each, name, undefined]);
    }
  }
  const isShown = app.named("Ticket");
  const body = { title: "a", inner: { text: "b", remark: "c" }, score: 3 };
  for (const options of [AS_AGENT, {}]) {
    const { _id } = await app.created("/tickets", { title: "a" }, options);
    assertEquals((await app.patch(`/tickets/${_id}`, body, AS_AGENT)).status, 200);
    for (const reader of [AS_AGENT, {}]) {
      const shown = await app.read<Record<string, unknown>>(`/tickets/${_id}`, reader);
      assertEquals("note" in shown, reader === AS_AGENT);
      assertEquals(isShown(shown), true, JSON.stringify(isShown.errors));
    }
  }
});

test("what is apart is described at its own routes alone", async () => {
  await using app = await mountDocumented([Ticket]);
  for (const [name, schema] of Object.entries(app.schemas)) {
    const { properties = {} } = schema as Partial<Described>;
    assertEquals([name, "apart" in properties, "secret" in properties], [
      name,
      false,
      ["TicketNew", "TicketPatch"].includes(name),
    ]);
  }
  assertEquals(app.answer("POST", "/tickets/{id}/apart", 201).$ref, "#/components/schemas/Inner");
});

const CONDITIONS = [
  ...[{}, { state: "x" }, { "inner.text": "x" }, { free: { a: 1 } }, { "free.a.b": 1 }],
  ...[{ title: "x" }, { _id: "0".repeat(24) }, { "inner.remark": "x" }, { inner: { text: "x" } }],
  ...[{ $or: [{ state: "x" }] }, { $or: [{ title: "x" }] }, { secret: "x" }, { note: "x" }],
  ...[{ "apart.text": "x" }, { none: 1 }],
];

test("q is described by the paths that its operation lists, and is refused with any other", async () => {
  await using app = await mountDocumented([Ticket]);
  const filterOf = (path: string) => {
    const q = app.operation("GET", path).parameters?.find(({ name }) => name === "q");
    return app.validator(q?.content?.["application/json"]?.schema ?? {});
  };
  for (const [path, isValid] of [["/tickets", filterOf("/tickets")]] as const) {
    for (const condition of CONDITIONS) {
      const { status } = await app.get(`${path}${asQuery(condition)}`, AS_AGENT);
      assertEquals([condition, isValid(condition)], [condition, status === 200]);
    }
  }
  const isAny = filterOf("/tickets/{id}");
  assertEquals([isAny({ title: "x" }), isAny({ secret: "x" })], [true, false]);
});

test('with "listed", an operation without a list has no parameter q', async () => {
  await using app = await mountDocumented([Ticket], { filters: "listed" });
  const namesAt = (method: string, path: string) =>
    app.operation(method, path).parameters?.map(({ name }) => name).filter((name) => name === "q");
  assertEquals(namesAt("GET", "/tickets"), ["q"]);
  assertEquals(namesAt("GET", "/tickets/{id}"), []);
  assertEquals(namesAt("PATCH", "/tickets/{id}"), []);
});
