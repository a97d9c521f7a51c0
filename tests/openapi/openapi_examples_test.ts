import { assertEquals } from "@std/assert";
import {
  action,
  all,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  remove,
  removeAll,
  rest,
  type Restricted,
  update,
} from "../../mod.ts";
import { mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";
import { asQuery, NOBODY } from "../support/support.ts";

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";

class CloseBody extends FrameworkModel {
  @prop({ required: true })
  reason!: string;
}

class Room extends FrameworkModel {
  @prop({ required: true })
  label!: string;
}

@rest({
  route: "/people",
  methods: [
    all({ formats: ["csv", "ndjson"], page: { max: 100 } }),
    one(),
    create({ idempotency: { keep: "24h", caller: () => "anybody" } }),
    update(),
    remove({ preFetch: (req) => req.headers["x-role"] === "agent" }),
    removeAll(),
    action("close", { on: "one", body: CloseBody, run: () => undefined }),
  ],
})
class Person extends FrameworkModel {
  @prop({ required: true, hidden: isCustomer, default: "none" })
  note!: Restricted<string>;
  @prop({ required: true, default: "open" })
  state!: string;
  @prop({ required: [true, "Who?"] })
  who!: string;
  @prop({ required: true, unique: true })
  name!: string;
  @rest({ methods: [one(), create()] })
  @prop({ type: Room })
  room?: Room;
}

@rest({
  route: "/logs",
  methods: [create({ many: 2, atomic: false }), update()],
  ifMatch: true,
})
class Log extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({
  route: "/broken",
  methods: [
    all({
      postFetch: () => {
        throw new Error("secret");
      },
    }),
    create(),
  ],
})
class Broken extends FrameworkModel {}

const NEW = { name: "Ada", who: "Me" };
const JSON_TYPE = "application/json";
const PROBLEM = "application/problem+json";

/** The error that a request must get, as the documented path, the status and the name of the example. */
type Case = readonly [
  method: string,
  path: string,
  status: number,
  name: string,
  sent: {
    readonly to?: string;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  },
];

const NONE = { "if-match": '"0"' };

function casesFor(person: string, log: string): Case[] {
  return [
    ["GET", "/people", 400, "filter", { to: "/people?q={" }],
    ["POST", "/people", 400, "body", { body: [] }],
    ["PATCH", "/people/{id}", 400, "body", { to: person, body: [] }],
    ["POST", "/people", 400, "data", { body: { ...NEW, name: undefined } }],
    ["PATCH", "/people/{id}", 400, "data", { to: person, body: { name: null } }],
    ["POST", "/people/{id}/room", 400, "data", { to: `${person}/room`, body: {} }],
    ["POST", "/people/{id}/close", 400, "data", { to: `${person}/close`, body: {} }],
    ["DELETE", "/people/{id}", 403, "forbidden", { to: person }],
    ["GET", "/people/{id}", 404, "missing", { to: `/people/${NOBODY}` }],
    ["GET", "/people", 406, "type", { headers: { accept: "text/html" } }],
    ["POST", "/people", 409, "value", { body: NEW }],
    ["POST", "/people/{id}/room", 409, "occupied", { to: `${person}/room`, body: { label: "b" } }],
    ["DELETE", "/people", 409, "limit", {
      to: `/people${asQuery({})}`,
      headers: { prefer: "max-affected=10" },
    }],
    ["PATCH", "/people/{id}", 412, "changed", { to: person, body: {}, headers: NONE }],
    ["POST", "/logs", 413, "size", { body: [{}, {}, {}] }],
    ["POST", "/people", 415, "type", { body: "a", headers: { "content-type": "text/plain" } }],
    ["POST", "/people", 422, "key", {
      body: { ...NEW, name: "Eve" },
      headers: { "idempotency-key": '"used"' },
    }],
    ["PATCH", "/logs/{id}", 428, "header", { to: log, body: {} }],
  ];
}

test("the server answers the examples of errors, as problem details too", async () => {
  await using app = await mountDocumented([Person, Log, Broken]);
  const ada = await app.created("/people", NEW, { headers: { "idempotency-key": '"used"' } });
  await app.created(`/people/${ada._id}/room`, { label: "a" });
  for (let count = 0; count < 10; count++) {
    await app.created("/people", { ...NEW, name: `Person ${count}` });
  }
  const log = await app.created("/logs", {});
  const { responses } = app.document.components;
  for (
    const [method, path, status, name, { to = path, body, headers }] of casesFor(
      `/people/${ada._id}`,
      `/logs/${log._id}`,
    )
  ) {
    const { $ref = "" } = app.operation(method, path).responses[status] ?? {};
    const { content } = responses[$ref.split("/").at(-1) ?? ""] ?? {};
    for (const type of [JSON_TYPE, PROBLEM]) {
      const accept = headers?.accept === undefined ? type : `${headers.accept}, ${type};q=0`;
      if (headers?.accept !== undefined && type === PROBLEM) continue;
      const reply = await app.send(method, to, { body, headers: { ...headers, accept } });
      const { examples } = content?.[type] as { examples?: Record<string, { value: unknown }> };
      const told = [method, path, type, status];
      assertEquals([...told, examples?.[name]?.value], [
        ...[method, path, type, reply.status],
        reply.body,
      ]);
    }
  }
});

@rest({ route: "/raced", methods: [create(), update({ postFetch: removeFirst })] })
class Raced extends FrameworkModel {
  @prop()
  text?: string;
}

/** Removes an entity after the framework has read it, as another request could do. */
async function removeFirst(_req: FrameworkRequest, raced: Entity<Raced>): Promise<Entity<Raced>> {
  await getModel(Raced).deleteOne({ _id: raced._id });
  return raced;
}

test("the example of a conflict is the error of an entity that has vanished", async () => {
  await using app = await mountDocumented([Raced]);
  const { _id } = await app.created("/raced", { text: "a" });
  const { status, body } = await app.patch(`/raced/${_id}`, { text: "b" });
  const { Conflict, ConflictOrOther = Conflict } = app.document.components.responses;
  const { examples } = ConflictOrOther?.content?.[JSON_TYPE] as {
    examples?: Record<string, { value: unknown }>;
  };
  assertEquals([status, body], [409, examples?.changed?.value]);
});

test("the examples of 500 and 503 are errors that the server answers", async () => {
  await using app = await mountDocumented([Broken]);
  await app.created("/broken", {});
  const { responses } = app.document.components;
  const exampleOf = (status: number, name: string) => {
    const { $ref = "" } = app.operation("GET", "/broken").responses[status] ?? {};
    const { examples } = responses[$ref.split("/").at(-1) ?? ""]?.content?.[JSON_TYPE] as {
      examples?: Record<string, { value: unknown }>;
    };
    return examples?.[name]?.value;
  };
  assertEquals((await app.get("/broken")).body, exampleOf(500, "internal"));
  assertEquals(exampleOf(503, "away"), {
    code: "UNAVAILABLE",
    message: "The database is not available",
  });
});

test("examples of errors name no field that a reader may not see", async () => {
  await using app = await mountDocumented([Person]);
  const texts = JSON.stringify(app.document.components.responses);
  assertEquals(["note", "state", "who"].filter((name) => texts.includes(`"${name}"`)), []);
});
