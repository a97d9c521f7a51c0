import { assert, assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import mongoose from "mongoose";
// @ts-types="express-types"
import express from "express";
import { z } from "zod";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import type { ModelClass, Ref } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount, type Mounted, start } from "../support/support.ts";

const SECRET = "connect ECONNREFUSED 10.1.2.3:27017";

class Other extends FrameworkModel {
  @prop({ type: Number })
  rank?: number;
}

/** What functions of fields do with a value that is "bad". */
let fail: () => unknown = () => true;

function failing(value: unknown): boolean {
  return value !== "bad" || Boolean(fail());
}

class Part extends FrameworkModel {
  @prop({ validate: failing })
  text?: string;
}

const hooks = { preSave: (_req: FrameworkRequest, entity: object) => entity };

class Fields extends FrameworkModel {
  @prop({ validate: failing })
  text?: string;
  @prop({ validate: async (value: unknown) => await Promise.resolve(failing(value)) })
  later?: string;
  @prop({ type: Number, required: true })
  rank!: number;
  @arrayProp({ items: String, validate: (list: string[]) => list.every(failing) })
  list?: string[];
  @prop({ type: () => Part })
  part?: Part;
  @arrayProp({ items: Part, embedded: true })
  parts?: Part[];
  @prop()
  added?: string;
  static override configure(schema: mongoose.Schema) {
    schema.path("added").validate(failing);
  }
}

@rest({ route: "/plain", methods: [all(), one(), create(), update()] })
@rest({ route: "/hooked", methods: [create(hooks), update(hooks), one()] })
class Entry extends Fields {
  @rest({ methods: [create(), update()] })
  @arrayProp({ items: Part, embedded: true })
  elements?: Part[];
  @rest({ methods: [create(), update()] })
  @prop({ type: () => Part })
  single?: Part;
  @rest({ methods: [create(), update()] })
  @arrayProp({ items: Part })
  referred?: Ref<Part>[];
}

/** The same where the write is the host's. */
@rest({
  route: "/persisted",
  methods: [create({ persist: (_req, entity) => entity })],
})
@rest({
  route: "/saved",
  methods: [
    create({ persist: async (_req, entity) => await (entity as mongoose.Document).save() }),
  ],
})
class Persisted extends Fields {}

const rank = 1;

/** All ways in which a request validates a value: method, path and body. */
function ways(id: string, inner: string): readonly (readonly ["POST" | "PATCH", string, object])[] {
  const bodies = [
    ...["text", "later", "added"].map((name) => ({ [name]: "bad", rank })),
    { list: ["bad"], rank },
    { part: { text: "bad" }, rank },
    { parts: [{ text: "bad" }], rank },
    // Values that cannot be cast have the other rules judged apart from a save.
    ...["text", "later", "added"].map((name) => ({ [name]: "bad", rank: "none" })),
  ];
  return [
    ...bodies.flatMap((body) => [
      ...["/plain", "/hooked", "/persisted", "/saved"].map((path) => ["POST", path, body] as const),
      ...["/plain", "/hooked"].map((path) => ["PATCH", `${path}/${id}`, body] as const),
    ]),
    ...["elements", "single", "referred"].map((name) =>
      ["POST", `/plain/${name === "single" ? inner : id}/${name}`, { text: "bad" }] as const
    ),
  ];
}

interface Told {
  readonly app: Mounted;
  readonly told: unknown[];
}

async function open(models: readonly ModelClass[] = [Entry, Persisted]): Promise<Told> {
  const told: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => void told.push(error);
  return { app: await mount(models, { onError }), told };
}

interface Answered {
  readonly place: string;
  readonly status: number;
  readonly body: ErrorBody;
  readonly told: readonly unknown[];
}

/** Has functions of fields throw in every way there is. */
async function* answers({ app, told }: Told, thrown: () => unknown): AsyncGenerator<Answered> {
  fail = () => {
    throw thrown();
  };
  const { _id } = await app.created("/plain", { rank });
  const { _id: inner } = await app.created("/plain", { rank });
  for (const [method, path, body] of ways(_id, inner)) {
    told.length = 0;
    const reply = await app.send<ErrorBody>(method, path, { body });
    const place = `${method} ${path} ${JSON.stringify(body)} ${reply.text}`;
    yield { place, status: reply.status, body: reply.body, told };
  }
}

/** Failures of the host, and the status that each one answers. */
const FAILURES: Record<string, readonly [number, () => unknown]> = {
  "a network error": [503, () => new mongoose.mongo.MongoNetworkError(SECRET)],
  "an error of the system": [500, () => Object.assign(new Error(SECRET), { code: "ECONNREFUSED" })],
  "an error with a cause": [500, () => new Error(SECRET, { cause: new Error(SECRET) })],
  "a TypeError": [500, () => new TypeError(SECRET)],
  "an error of a class of the host": [500, () => new (class Mine extends Error {})(SECRET)],
  "a CastError of another model": [500, () => new mongoose.Error.CastError("Number", SECRET, "x")],
  "a validation error of another model": [
    500,
    () => new (getModel(Other))({ rank: SECRET } as never).validateSync(),
  ],
  "an object that is no error": [500, () => ({ message: SECRET })],
};

test("a failure that a validator throws is the host's, whatever is written", async (t) => {
  using _log = stub(console, "error");
  const opened = await open();
  await using _app = opened.app;
  for (const [name, [status, make]] of Object.entries(FAILURES)) {
    await t.step(name, async () => {
      const error = make();
      for await (const { place, told, ...answer } of answers(opened, () => error)) {
        assertEquals([place, answer.status], [place, status]);
        assert(!place.includes("10.1.2.3"), place);
        // Outages are told once a minute.
        if (status === 500) assert(told.length === 1 && told[0] === error, place);
      }
    });
  }
});

test("a RestError that a validator throws is the answer, whatever is written", async () => {
  const opened = await open();
  await using _app = opened.app;
  const given = new RestError(429, { code: "SLOW", left: 0 });
  for await (const { place, status, body, told } of answers(opened, () => given)) {
    assertEquals([place, status, body, told], [place, 429, given.body as ErrorBody, []]);
  }
});

const WRONG: Record<string, () => Error> = {
  "an Error": () => new Error("Too short"),
  "a ValidatorError": () => new mongoose.Error.ValidatorError({ message: "Too short" } as never),
  "a ValidationError of a library": () =>
    Object.assign(new Error("Too short"), { name: "ValidationError", details: [] }),
};

test("an error that a validator throws says what is wrong, whatever is written", async (t) => {
  const opened = await open();
  await using _app = opened.app;
  for (const [name, make] of Object.entries(WRONG)) {
    await t.step(name, async () => {
      for await (const { place, status, body, told } of answers(opened, make)) {
        assertEquals([place, status, told], [place, 400, []]);
        const { errors = {} } = body;
        const messages = Object.values(errors).map(({ message }) => message);
        assert(messages.includes("Too short"), `${place} ${JSON.stringify(body)}`);
      }
    });
  }
});

/** What other functions of fields throw. */
const thrown = new TypeError(SECRET);
const fails = () => {
  throw thrown;
};

@rest({ route: "/required", methods: [create(), update()] })
class Required extends FrameworkModel {
  @prop({ required: fails })
  text?: string;
  @prop({ type: Number })
  rank?: number;
}

@rest({ route: "/defaulted", methods: [create(), update()] })
class Defaulted extends FrameworkModel {
  @prop({ default: fails })
  text?: string;
  @prop({ type: Number })
  rank?: number;
}

@rest({ route: "/worded", methods: [create(), update()] })
class Worded extends FrameworkModel {
  @prop({ validate: { validator: (text: string) => text === "good", message: fails } })
  text?: string;
  @prop({ type: Number })
  rank?: number;
}

@rest({ route: "/judged", methods: [create(), update()] })
class Judged extends FrameworkModel {
  @prop({ validate: z.string().refine(fails) })
  text?: string;
  @prop({ type: Number })
  rank?: number;
}

@rest({ route: "/awaited", methods: [create(), update()] })
class Awaited extends FrameworkModel {
  @prop({
    validate: {
      "~standard": { version: 1, vendor: "own", validate: () => Promise.resolve().then(fails) },
    },
  })
  text?: string;
  @prop({ type: Number })
  rank?: number;
}

@rest({ route: "/prepared", methods: [create(), update()] })
class Prepared extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  rank?: number;

  static override configure(schema: mongoose.Schema) {
    schema.pre("validate", fails);
  }
}

@rest({ route: "/configured", methods: [create(), update()] })
class Configured extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ type: Number })
  rank?: number;

  static override configure(schema: mongoose.Schema) {
    schema.path("text").required(fails as never);
  }
}

const BODIES: readonly (readonly [ModelClass, ...object[]])[] = [
  [Required, { rank }, { text: "good" }, { rank: "none" }],
  [Configured, { rank }, { text: "good" }, { rank: "none" }],
  [Defaulted, { rank }],
  [Worded, { text: "bad" }, { text: "bad", rank: "none" }],
  [Judged, { text: "bad" }, { text: "bad", rank: "none" }],
  [Awaited, { text: "bad" }, { text: "bad", rank: "none" }],
  [Prepared, { text: "bad" }],
];

for (const [target, ...bodies] of BODIES) {
  test(`what other functions of a field throw is the host's: ${target.name}`, async () => {
    using _log = stub(console, "error");
    const { app, told } = await open([target]);
    await using _app = app;
    for (const body of bodies) {
      told.length = 0;
      const reply = await app.post(`/${target.name.toLowerCase()}`, body);
      const place = `${JSON.stringify(body)} ${reply.text}`;
      assertEquals([place, reply.status, told.length], [place, 500, 1]);
      assert(told[0] === thrown, String(told[0]));
    }
  });
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
const refuses = (value: unknown) => Promise.resolve().then(() => isEmpty(value));

@rest({ route: "/ruled", methods: [create()] })
class Ruled extends FrameworkModel {
  @prop({ validate: refuses, minLength: 3 })
  text?: string;
  @arrayProp({ items: Part, embedded: true, validate: [refuses, isEmpty] })
  parts?: Part[];
  @prop()
  added?: string;
  static override configure(schema: mongoose.Schema) {
    schema.path("added").validate(refuses);
    schema.path("added").validate(() => false);
  }
}

test("a value that breaks asynchronous and other rules of its field is a 400, and the process goes on", async () => {
  const { app } = await open([Ruled]);
  await using _app = app;
  for (const body of [{ text: "ab" }, { parts: [{}] }, { added: "a" }, { text: "ab", rank: 1 }]) {
    const reply = await app.post<ErrorBody>("/ruled", body);
    assertEquals([reply.status, Object.keys(reply.body.errors ?? {})], [400, [
      Object.keys(body)[0],
    ]]);
  }
});

/** Refuses every value by a text that holds it. */
function refuse(value: unknown): boolean {
  throw new Error(`Not "${value}"`);
}

const told = { validator: () => false, message: "{VALUE} at {PATH} is not {LIMIT}", limit: "5" };

@rest({ route: "/texts", methods: [create(), update()] })
@rest({ route: "/hooked_texts", methods: [create(hooks), update(hooks)] })
class Texts extends FrameworkModel {
  @prop({ validate: refuse })
  thrown?: string;
  @prop({ validate: async (value: unknown) => await Promise.resolve(refuse(value)) })
  later?: string;
  @prop({ validate: told })
  text?: string;
  @prop({ type: Object, validate: () => false })
  free?: Record<string, unknown>;
}

const FREE = "Validator failed for path `free` with value `[object Object]`";

/** Fields, values that are wrong, and what is said of them. */
const SAID: readonly (readonly [name: string, value: unknown, message: string])[] = [
  ...["{VALIDATOR}", "{REASON}", "{FULLPATH}", "$& $'"].flatMap((value) =>
    [
      ["thrown", value, `Not "${value}"`],
      ["later", value, `Not "${value}"`],
      ["text", value, `${value} at text is not 5`],
    ] as const
  ),
  ["free", { a: 1 }, FREE],
  ["free", { toString: 1 }, FREE],
];

test("a message holds the value of a client as it is, and can be made of any value", async () => {
  const { app } = await open([Texts]);
  await using _app = app;
  const { insertedId } = await getModel(Texts).collection.insertOne({ __v: 0 } as never);
  for (const route of ["/texts", "/hooked_texts"]) {
    for (const [name, value, message] of SAID) {
      const body = { [name]: value };
      for (
        const reply of [
          await app.post<ErrorBody>(route, body),
          await app.patch<ErrorBody>(`${route}/${insertedId}`, body),
        ]
      ) {
        assertEquals([route, body, reply.status], [route, body, 400]);
        assertEquals([route, body, reply.body.errors?.[name]?.message], [route, body, message]);
      }
    }
  }
});

test("Framework.errors() keeps what a failing validator throws in a route of the host", async () => {
  using log = stub(console, "error");
  await using _app = await mount([Entry]);
  const app = express();
  app.post("/", async (_req, res) => {
    res.json(await getModel(Entry).create({ text: "bad", rank }));
  });
  app.use(Framework.errors());
  await using served = await start(app);
  for (
    const [error, status] of [
      [new mongoose.mongo.MongoNetworkError(SECRET), 503],
      [new TypeError(SECRET), 500],
      [new RestError(429, "Slow down"), 429],
      [new Error("Too short"), 400],
    ] as const
  ) {
    fail = () => {
      throw error;
    };
    const reply = await served.post("/", {});
    assertEquals([error.name, reply.status], [error.name, status]);
    assert(!reply.text.includes("10.1.2.3"), reply.text);
  }
  assert(log.calls.length >= 2);
});
