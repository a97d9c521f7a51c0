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
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../mod.ts";
import { test } from "./harness/testing.ts";
import { asQuery, mount } from "./support.ts";

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

test("what is apart is shown, changed and read by its own routes alone", async (t) => {
  await using app = await mount([Ticket]);
  const { _id } = await app.created("/apart", { title: "a", comments: [{ text: "by body" }] });
  const path = `/apart/${_id}`;
  await app.created(`${path}/comments`, { text: "internal", internal: true }, AGENT);
  const { _id: shown } = await app.created(`${path}/comments`, { text: "public" });
  await t.step("in answers", async () => {
    for (const route of ["/apart", path, "/hooked", `/hooked/${_id}`]) {
      const { text, status } = await app.get(route, AGENT);
      assert(status === 200 && !text.includes("comments"), text);
    }
    assertEquals((await app.read<unknown[]>(`${path}/comments`)).length, 1);
    assertEquals((await app.read<unknown[]>(`${path}/comments`, AGENT)).length, 2);
  });
  await t.step("in filters and bodies", async () => {
    for (const name of ["comments.text", "comments", "comments.0.internal"]) {
      assertEquals((await app.get(`/apart${asQuery({ [name]: "x" })}`)).status, 400, name);
    }
    for (const route of [path, `/hooked/${_id}`]) {
      const changed = await app.updated(route, { title: "b", comments: [] });
      assertEquals(Object.keys(changed).sort(), ["__v", "_id", "title"]);
      assertEquals((await app.read<unknown[]>(`${path}/comments`, AGENT)).length, 2);
    }
    await app.updated(`${path}/comments/${shown}`, { text: "changed" });
  });
  await t.step("in reads", async () => {
    const requests: [string, string, unknown?][] = [
      ...["/apart", "/apart?sort=title&limit=1", path, "/hooked", `/hooked/${_id}`].map((route) =>
        ["GET", route] as [string, string]
      ),
      ["PATCH", path, { title: "c" }],
      ["PATCH", `/hooked/${_id}`, { title: "d" }],
    ];
    const replies: string[] = [];
    await mongoose.disconnect();
    await mongoose.connect(app.database.uri, { monitorCommands: true });
    mongoose.connection.getClient().on("commandSucceeded", ({ reply }) => {
      replies.push(Buffer.from(mongoose.mongo.BSON.serialize(reply as object)).toString("latin1"));
    });
    for (const [method, route, body] of requests) {
      replies.length = 0;
      assertEquals((await app.send(method, route, { body })).status, 200);
      assert(
        replies.some((reply) => reply.includes("title")),
        `${method} ${route} ${JSON.stringify(replies)}`,
      );
      assert(!replies.some((reply) => reply.includes("internal")), `${method} ${route}`);
    }
  });
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
