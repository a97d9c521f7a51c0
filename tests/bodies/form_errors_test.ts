import { assert, assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import { arrayProp, create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { longTest, test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";
import { growth } from "../support/growth.ts";

class Line extends FrameworkModel {
  @prop({ required: true, maxLength: 5 })
  text!: string;

  @prop({ type: Number, min: 1 })
  count?: number;
}

@rest({ route: "/orders", methods: [one(), create(), update()] })
class Order extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ type: Number, max: [9, "At most 9"] })
  amount?: number;

  @prop({ enum: ["new", "old"] })
  state?: string;

  @prop({ validate: async (text: string) => await Promise.resolve(text) !== "taken" })
  code?: string;

  @prop({ hidden: true, minLength: 8 })
  secret?: string;

  @prop({ type: Date, required: true })
  due!: Date;

  @prop({ type: Line })
  first?: Line;

  @rest({ methods: [create(), update()] })
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];

  @prop({ type: Map, of: Line })
  named?: Map<string, Line>;

  @arrayProp({ items: String, enum: ["a", "b"] })
  tags?: string[];
}

const VALID = { name: "n", due: "2026-01-01" };

/** The kinds of what is wrong, by path. */
async function wrong(reply: ReturnType<Client["post"]>): Promise<Record<string, string>> {
  const { status, body } = await (reply as Promise<{ status: number; body: unknown }>);
  assertEquals(status, 400);
  const errors = Object.entries((body as ErrorBody).errors ?? {});
  return Object.fromEntries(errors.map(([path, { kind }]) => [path, kind]));
}

test("create() names what cannot be cast and what breaks a rule in one answer", async () => {
  await using api = await mount([Order]);
  const body = {
    ...{ amount: 10, state: "gone", code: "taken", secret: "short", due: "never" },
    ...{ first: { text: "too long" }, lines: [{ text: "ok" }, { count: 0 }], tags: ["a", "c"] },
    named: { x: { text: "too long", count: "x" } },
  };
  assertEquals(await wrong(api.post("/orders", body)), {
    ...{ name: "required", amount: "max", state: "enum", code: "user defined" },
    ...{ secret: "minlength", due: "Date", "first.text": "maxlength" },
    ...{ "lines.1.text": "required", "lines.1.count": "min", "tags.1": "enum" },
    ...{ "named.x.text": "maxlength", "named.x.count": "Number" },
  });
});

test("the messages are those of a body whose values can all be cast", async () => {
  await using api = await mount([Order]);
  const body = {
    ...{ amount: 10, state: "gone", secret: "short", code: "taken" },
    ...{ first: { text: "too long" }, lines: [{ count: 0 }], tags: ["c"] },
  };
  const broken = await api.post<ErrorBody>("/orders", { due: "2026-01-01", ...body });
  const both = await api.post<ErrorBody>("/orders", { due: "never", ...body });
  const { due, ...others } = both.body.errors ?? {};
  assertEquals(due?.kind, "Date");
  assertEquals(others, broken.body.errors);
});

test("update() judges what the body sets, not what is stored", async () => {
  await using api = await mount([Order]);
  const { _id } = await api.created("/orders", VALID);
  const body = { amount: 10, due: "never", first: { count: 0 } };
  assertEquals(await wrong(api.patch(`/orders/${_id}`, body)), {
    ...{ amount: "max", due: "Date", "first.count": "min", "first.text": "required" },
  });
  assertEquals(await wrong(api.patch(`/orders/${_id}`, { due: "never" })), { due: "Date" });
});

test("an embedded element is judged as a whole through its sub-route", async () => {
  await using api = await mount([Order]);
  const { _id } = await api.created("/orders", VALID);
  assertEquals(await wrong(api.post(`/orders/${_id}/lines`, { count: "x" })), {
    ...{ text: "required", count: "Number" },
  });
  const line = await api.created(`/orders/${_id}/lines`, { text: "ok" });
  const at = `/orders/${_id}/lines/${line._id}`;
  assertEquals(await wrong(api.patch(at, { text: "too long", count: "x" })), {
    ...{ text: "maxlength", count: "Number" },
  });
});

test("a field that a preSave hook may set is not missed", async () => {
  @rest({
    route: "/notes",
    methods: [create({
      preSave: (_req, note) => {
        note.owner = "ada";
        return note;
      },
    })],
  })
  class Note extends FrameworkModel {
    @prop({ required: true, readonly: true })
    owner!: string;

    @prop({ maxLength: 3 })
    text?: string;

    @prop({ type: Number })
    rank?: number;
  }
  await using api = await mount([Note]);
  const body = { rank: "x", text: "long" };
  assertEquals(await wrong(api.post("/notes", body)), { rank: "Number", text: "maxlength" });
});

const ran: string[] = [];

class Inner extends FrameworkModel {
  @prop()
  text?: string;

  static override configure(schema: Schema): void {
    schema.pre("validate", () => void ran.push("inner"));
  }
}

@rest({ route: "/watched", methods: [create()] })
class Watched extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ type: Number })
  rank?: number;

  @prop({ type: Inner })
  inner?: Inner;

  @arrayProp({ items: Inner, embedded: true })
  inners?: Inner[];

  static override configure(schema: Schema): void {
    schema.pre("validate", () => void ran.push("validate"));
    schema.pre("save", () => void ran.push("save"));
  }
}

test("a body that cannot be cast runs no middleware", async () => {
  await using api = await mount([Watched]);
  const inner = { text: "t" };
  const kinds = await wrong(api.post("/watched", { rank: "x", inner, inners: [inner] }));
  assertEquals([kinds, ran], [{ rank: "Number", name: "required" }, []]);
  await api.created("/watched", { name: "n", inner });
  assertEquals(ran, ["validate", "inner", "save"]);
});

test("a validator that throws is a rule that is broken", async () => {
  @rest({ route: "/odd", methods: [create()] })
  class Odd extends FrameworkModel {
    @prop({
      validate: () => {
        throw new Error("Odd");
      },
    })
    name?: string;

    @prop({ type: Number })
    rank?: number;
  }
  await using api = await mount([Odd]);
  const { body } = await api.post<ErrorBody>("/odd", { name: "n", rank: "x" });
  assertEquals(body.errors?.name, { message: "Odd", kind: "user defined" });
});

@rest({ route: "/forms", methods: [create(), update()] })
class Form extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;

  @prop({ default: "ada" })
  owner!: string;

  @prop({ validate: { validator: () => false, message: messageFor } })
  told?: string;

  @prop({ validate: { validator: isNamed, propsParameter: true } as never })
  named?: string;

  @prop({ validate: (() => Promise.resolve(null)) as never })
  empty?: string;

  @arrayProp({ items: Line, embedded: true, validate: (lines: Line[]) => lines.length < 3 })
  lines?: Line[];

  @prop({ type: Map, of: Line })
  texts?: Map<string, Line>;

  static override configure(schema: Schema): void {
    const validate = function (this: Form) {
      return this.owner === "ada";
    };
    schema.add({ place: { city: { type: String, validate } } });
  }
}

/** Types of Mongoose know nothing of the document. */
function messageFor({ value }: { value: unknown }, ...[form]: Form[]): string {
  return `Not ${value}, ${form?.owner}`;
}

function isNamed(_value: unknown, { path }: { path: string }): boolean {
  return path === "named";
}

test("validators and messages get what Mongoose gives them, when values cannot be cast too", async () => {
  await using api = await mount([Form]);
  const { _id } = await api.created("/forms", {});
  const valid = {
    ...{ named: "n", empty: "e", place: { city: "Rome" } },
    lines: [{ text: "a" }, { text: "b" }],
  };
  const body = { ...valid, told: "it" };
  for (const [method, path] of [["post", "/forms"], ["patch", `/forms/${_id}`]] as const) {
    const alone = await api[method]<ErrorBody>(path, body);
    const both = await api[method]<ErrorBody>(path, { ...body, rank: "x" });
    const { rank, ...others } = both.body.errors ?? {};
    assertEquals([both.status, rank?.kind, others], [400, "Number", alone.body.errors]);
    assertEquals(others.told?.message, "Not it, ada");
    assertEquals(Object.keys(others).sort(), ["told"]);
  }
});

longTest("an update of a large Map is judged in the time that its size takes", async () => {
  await using api = await mount([Form], { limits: { body: { maxObjects: 2500 } } });
  const { _id } = await api.created("/forms", {});
  const line = { text: "too long" };
  const times = await growth(2400, async (length) => {
    const texts = Object.fromEntries(Array.from({ length }, (_, key) => [`k${key}`, line]));
    const { status, body } = await api.patch<ErrorBody>(`/forms/${_id}`, { texts, rank: "x" });
    assertEquals([status, Object.keys(body.errors ?? {}).length], [400, 100]);
  });
  assert(times < 12, `${times}`);
});

test("asynchronous validators run at the same time", async () => {
  const waiting: (() => void)[] = [];
  /** Answers once all 3 steps have been asked about. */
  const all = () =>
    new Promise<boolean>((resolve) => {
      waiting.push(() => resolve(false));
      if (waiting.length === 3) { for (const answer of waiting) answer(); }
    });
  class Step extends FrameworkModel {
    @prop({ validate: all })
    text?: string;
  }
  @rest({ route: "/plans", methods: [create()] })
  class Plan extends FrameworkModel {
    @arrayProp({ items: Step, embedded: true })
    steps?: Step[];

    @prop({ type: Number })
    rank?: number;
  }
  await using api = await mount([Plan]);
  const steps = ["a", "b", "c"].map((text) => ({ text }));
  assertEquals(await wrong(api.post("/plans", { steps, rank: "x" })), {
    ...{ "steps.0.text": "user defined", "steps.1.text": "user defined" },
    ...{ "steps.2.text": "user defined", rank: "Number" },
  });
});
