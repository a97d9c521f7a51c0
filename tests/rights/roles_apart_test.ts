import { assert, assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, mount, type Mounted } from "../support/support.ts";

const AGENT = { headers: { "x-role": "agent" } };

function isPublic({ headers }: FrameworkRequest) {
  return headers["x-role"] === "agent" ? {} : { internal: false };
}

function keep<E>(_req: FrameworkRequest, entity: E): E {
  return entity;
}

class Comment extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  @prop({ default: false })
  internal!: boolean;
}

const operations = [all(), one(), create(), update(), remove()];

@rest({
  route: "/apart",
  methods: [all({ page: { max: 5 }, sort: ["title"] }), ...operations.slice(1)],
})
@rest({
  route: "/hooked",
  methods: [all({ postFetch: keep }), one({ preSend: keep }), update({ preSave: keep })],
})
class Ticket extends FrameworkModel {
  static override schemaOptions = { collection: "apart_tickets" };
  @prop({ required: true })
  title!: string;
  @rest({ methods: operations, scope: isPublic })
  @arrayProp({ items: Comment, embedded: true, apart: true })
  comments?: Comment[];
}

async function store(app: Mounted) {
  const { _id } = await app.created("/apart", { title: "a", comments: [{ text: "by body" }] });
  const path = `/apart/${_id}`;
  await app.created(`${path}/comments`, { text: "internal", internal: true }, AGENT);
  const { _id: comment } = await app.created(`${path}/comments`, { text: "public" });
  return { path, hooked: `/hooked/${_id}`, comment };
}

const count = async (app: Mounted, path: string, role = {}) =>
  (await app.read<unknown[]>(`${path}/comments`, role)).length;

test("what is apart is shown by its own routes alone", async () => {
  await using app = await mount([Ticket]);
  const { path, hooked } = await store(app);
  for (const route of ["/apart", path, "/hooked", hooked]) {
    const { text, status } = await app.get(route, AGENT);
    assert(status === 200 && !text.includes("comments"), text);
  }
  assertEquals([await count(app, path), await count(app, path, AGENT)], [1, 2]);
  for (const name of ["comments.text", "comments", "comments.0.internal"]) {
    assertEquals((await app.get(`/apart${asQuery({ [name]: "x" })}`)).status, 400, name);
  }
});

test("what is apart is changed by its own routes alone", async () => {
  await using app = await mount([Ticket]);
  const { path, hooked, comment } = await store(app);
  for (const route of [path, hooked]) {
    const changed = await app.updated(route, { title: "b", comments: [] });
    assertEquals(Object.keys(changed).sort(), ["__v", "_id", "title"]);
    assertEquals(await count(app, path, AGENT), 2);
  }
  await app.updated(`${path}/comments/${comment}`, { text: "changed" });
  assertEquals(await count(app, path, AGENT), 2);
});

test("what is apart is read by its own routes alone", async () => {
  await using app = await mount([Ticket]);
  const { path, hooked } = await store(app);
  const replies: string[] = [];
  await mongoose.disconnect();
  await mongoose.connect(app.database.uri, { monitorCommands: true });
  mongoose.connection.getClient().on("commandSucceeded", ({ reply }) => {
    replies.push(Buffer.from(mongoose.mongo.BSON.serialize(reply as object)).toString("latin1"));
  });
  const gets = ["/apart", "/apart?sort=title&limit=1", path, "/hooked", hooked];
  const requests: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ...gets.map((route) => ["GET", route] as const),
    ...[path, hooked].map((route) => ["PATCH", route, { title: route }] as const),
  ];
  for (const [method, route, body] of requests) {
    replies.length = 0;
    assertEquals((await app.send(method, route, { body })).status, 200);
    assert(replies.some((reply) => reply.includes("title")), `${method} ${route}`);
    assert(!replies.some((reply) => reply.includes("internal")), `${method} ${route}`);
  }
});

function refuse(message: RegExp, make: () => void): void {
  const { message: told } = assertThrows(make, TypeError);
  assert(message.test(told), told);
}

test("a start says where a parent would show what routes keep", () => {
  class Open extends FrameworkModel {
    @rest({ methods: [all(), create()], scope: isPublic })
    @arrayProp({ items: Comment, embedded: true })
    comments?: Comment[];
  }
  rest({ route: "/open", methods: [one()] })(Open as never, contextOf(Open));
  refuse(/"comments".*apart: true.*apart: false/, () => Framework.initialize({ models: [Open] }));
});

function contextOf(target: object) {
  const { [Symbol.metadata]: metadata } = target as { [Symbol.metadata]: object };
  return { kind: "class", metadata, addInitializer: () => {} } as never;
}
