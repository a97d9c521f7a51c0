import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { z } from "zod";
import {
  action,
  all,
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  type Hidden,
  one,
  prop,
  type Ref,
  rest,
  RestError,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { type EntityBody, type ErrorBody, mount, NOBODY } from "../../support/support.ts";

/** What the action of a test does. */
let run: () => unknown = () => {};

/** The body that the last one has got. */
let got: unknown;

class Line extends FrameworkModel {
  @prop({ type: Number, min: 0, required: true })
  price!: number;
}

class Report extends FrameworkModel {
  @prop({ type: Number, required: true })
  open!: number;
  @prop({ type: Date })
  oldest?: Date;
  @prop({ hidden: true })
  secret?: Hidden<string>;
  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];
}

const Parsed = z.object({ open: z.number().max(9) });

/** Takes what TypeScript would refuse. */
const made = (name: string, options: object) =>
  action(name, {
    on: "one",
    run: (_req: unknown, _subject: unknown, body: unknown) => (got = body, run()),
    ...options,
  } as never);

@rest({
  route: "/tickets",
  methods: [
    all(),
    one(),
    create(),
    made("bare", {}),
    made("bare-all", { on: "all" }),
    made("report", { on: "all", method: "GET", answer: Report }),
    made("parsed", { answer: Parsed }),
    made("take", { body: Report }),
    made("take-parsed", { body: z.object({ open: z.coerce.number(), big: z.string().max(3) }) }),
  ],
})
class Ticket extends FrameworkModel {
  static override schemaOptions = { collection: "answered_tickets" };
  @prop({ default: "open" })
  state!: string;
}

const MODELS = [Ticket];
const INTERNAL = { code: "INTERNAL", message: "Internal error" };

test("an action that gives nothing answers 204", async () => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", {});
  for (const nothing of [null, undefined]) {
    run = () => nothing;
    for (
      const [verb, path] of [
        ["POST", `${_id}/bare`],
        ["POST", "bare-all"],
        ["GET", "report"],
        ["POST", `${_id}/parsed`],
      ] as const
    ) {
      const { status, text } = await app.send(verb, `/tickets/${path}`);
      assertEquals([status, text], [204, ""], path);
    }
  }
});

/** What does not fit the answer of an action. */
const MISFITS: readonly (readonly [name: string, path: string, result: unknown])[] = [
  ...[0, 1, "", "x", true, false, [], [{}], {}, new Date(), new Map(), () => {}].map((value) =>
    [`${JSON.stringify(value)} without "answer"`, "bare", value] as const
  ),
  ...[0, "x", true, [{ open: 1 }], {}, { open: null }, { open: "x" }, { open: NaN }].map((value) =>
    [`${JSON.stringify(value)} for a class`, "report", value] as const
  ),
  ["a wrong date", "report", { open: 1, oldest: new Date(NaN) }],
  ["a wrong part", "report", { open: 1, lines: [{ price: -1 }] }],
  ["a part without its field", "report", { open: 1, lines: [{}] }],
  ...[0, "x", {}, { open: 10 }, { open: "1" }, { open: NaN }].map((value) =>
    [`${JSON.stringify(value)} for a schema`, "parsed", value] as const
  ),
];

test("an answer that does not fit is a 500 that tells nothing", async (t) => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", {});
  for (const [name, path, result] of MISFITS) {
    await t.step(name, async () => {
      run = () => result;
      const isGet = path === "report";
      const at = isGet ? "/tickets/report" : `/tickets/${_id}/${path}`;
      const { status, body } = await app.send<ErrorBody>(isGet ? "GET" : "POST", at);
      assertEquals([status, body], [500, INTERNAL as ErrorBody]);
    });
  }
});

test("a promise in an answer is told with the await that is missing", async () => {
  const told: string[] = [];
  await using app = await mount(MODELS, { onError: (_req, error) => void told.push(`${error}`) });
  run = () => ({ open: 1, oldest: Promise.resolve(new Date()) });
  assertEquals((await app.get("/tickets/report")).status, 500);
  assertEquals(told.map((each) => each.includes(`"oldest" is a promise, so an "await"`)), [true]);
});

test("an answer has what its class declares, and no more", async () => {
  await using app = await mount(MODELS);
  run = () => ({
    ...{ open: "2", secret: "s", other: 1, _id: undefined },
    lines: [{ price: 1, hidden: 2 }],
  });

  const { text } = await app.get("/tickets/report");

  assertEquals(JSON.parse(text), { open: 2, lines: [{ price: 1 }] });
});

test("an action answers with another entity of its class", async () => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", {});
  run = () => getModel(Ticket).create({ state: "new" });

  const reply = await app.post(`/tickets/${_id}/bare`);

  assertEquals([reply.status, reply.body.state], [200, "new"]);
  const read = await app.get<EntityBody>(`/tickets/${reply.body._id}`);
  assertEquals([read.body, read.headers.get("etag")], [reply.body, reply.headers.get("etag")]);
});

test("what run throws is the answer, or a 500 that tells nothing", async () => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", {});
  const thrown = async (error: unknown) => {
    run = () => {
      throw error;
    };
    const { status, body } = await app.post<ErrorBody>(`/tickets/${_id}/bare`);
    return [status, body.code, body.message];
  };

  assertEquals(await thrown(new RestError(409, "It is closed")), [409, "CONFLICT", "It is closed"]);
  for (const error of [new Error("secret"), "secret", null, undefined]) {
    assertEquals(await thrown(error), [500, INTERNAL.code, INTERNAL.message]);
  }
});

test("bodies of actions are limited as all bodies are", async () => {
  await using app = await mount(MODELS, {
    limits: { body: { maxKeys: 3, maxElements: 2, maxObjects: 1 } },
  });
  const { _id } = await app.created("/tickets", {});
  for (const name of ["take", "take-parsed"]) {
    for (
      const body of [
        { open: 1, a: 1, b: 2, c: 3 },
        { open: 1, lines: [{ price: 1 }, { price: 1 }] },
        { open: 1, lines: [1, 2, 3] },
      ]
    ) {
      const reply = await app.post<ErrorBody>(`/tickets/${_id}/${name}`, body);
      assertEquals([reply.status, reply.body.code], [400, "BAD_FORMAT"], reply.text);
    }
  }
});

test("a body is an instance of its class, with defaults and without what is undeclared", async () => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", {});
  run = () => null;

  const body = { open: "2", lines: [{ price: 1 }], other: 1, _id: "0123456789abcdef01234567" };
  assertEquals((await app.post(`/tickets/${_id}/take`, body)).status, 204);
  assertEquals([got instanceof Report, (got as Report).open], [true, 2]);
  assertEquals(["other" in (got as object), "_id" in (got as object)], [false, false]);

  assertEquals(
    (await app.post(`/tickets/${_id}/take-parsed`, { open: "2", big: "a" })).status,
    204,
  );
  assertEquals(got, { open: 2, big: "a" });
});

test("a body that a schema refuses names every problem by its path", async () => {
  await using app = await mount(MODELS);
  const { _id } = await app.created("/tickets", {});

  const reply = await app.post<ErrorBody>(`/tickets/${_id}/take-parsed`, {
    open: "x",
    big: "long",
  });
  const parts = await app.post<ErrorBody>(`/tickets/${_id}/take`, {
    open: null,
    lines: [{ price: -1 }, { price: "x" }],
  });

  assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
  assertEquals(Object.keys(reply.body.errors ?? {}).sort(), ["big", "open"]);
  assertEquals(parts.status, 400);
  assertEquals(
    Object.keys(parts.body.errors ?? {}).sort(),
    ["lines.0.price", "lines.1.price", "open"],
  );
});

test("without a JSON parser, actions without a body work, and others are a 500", async () => {
  await using app = await mount(MODELS, { prepare: () => {} });
  const { _id } = await getModel(Ticket).create({}) as unknown as { readonly _id: unknown };
  run = () => null;

  assertEquals((await app.post(`/tickets/${_id}/bare`)).status, 204);
  assertEquals((await app.post(`/tickets/${_id}/bare`, { any: 1 })).status, 204);
  assertEquals((await app.post(`/tickets/${_id}/take`, { open: 1 })).status, 500);
});

test("an action has its time, as other hooks have", async () => {
  await using app = await mount(MODELS, {
    limits: { timeMS: 100 },
    prepare: (host) => host.use(express.json()),
  });
  const { _id } = await getModel(Ticket).create({}) as unknown as { readonly _id: unknown };
  const { promise, resolve } = Promise.withResolvers<null>();
  run = () => promise;

  const { status } = await app.post(`/tickets/${_id}/bare`);

  resolve(null);
  assertEquals(status, 503);
});

class Assignee extends FrameworkModel {
  @prop()
  name?: string;
}

class Assignment extends FrameworkModel {
  @prop({ ref: Assignee, exists: true })
  assignee?: Ref<Assignee>;
}

const assign = action("assign", {
  on: "all",
  body: Assignment,
  run: () => {
    throw new RestError(418, "It ran");
  },
});

@rest({ route: "/assigned", methods: [all(), assign] })
class Assigned extends FrameworkModel {
  @prop()
  name?: string;
}

test("an action refuses a body that refers to an entity that is not there", async () => {
  await using app = await mount([Assigned]);
  const { _id } = await getModel(Assignee).create({ name: "a" });
  const send = (assignee: unknown) => app.post<ErrorBody>("/assigned/assign", { assignee });
  const { status, body } = await send(NOBODY);
  assertEquals([status, body.errors?.assignee?.kind], [400, "exists"]);
  assertEquals((await send(_id)).status, 418);
});
