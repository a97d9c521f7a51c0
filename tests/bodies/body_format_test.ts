import { assertEquals, assertStringIncludes } from "@std/assert";
import { stub } from "@std/testing/mock";
// @ts-types="express-types"
import express from "express";
import {
  arrayProp,
  create,
  FrameworkModel,
  getModel,
  prop,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { Person } from "../fixtures/person.ts";
import { test } from "../harness/testing.ts";
import { readToEnd } from "../support/sockets.ts";
import { type ErrorBody, mount } from "../support/support.ts";

const JSON_TYPE = { "content-type": "application/json" };

/** The methods and paths of a create and an update. */
function writes(route: string, id: unknown) {
  return [["POST", route], ["PATCH", `${route}/${id}`]] as const;
}

class Knot extends FrameworkModel {
  @prop({ type: () => Knot })
  child?: Knot;
}

@rest({ route: "/knots", methods: [create(), update()] })
class Rope extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Knot })
  knot?: Knot;
  @prop({ type: Object })
  free?: object;
  @arrayProp({ items: String })
  tags?: string[];
}

test("create() and update() refuse a body nested thousands deep with 400", async () => {
  await using app = await mount([Rope], {
    prepare: (host) => host.use(express.json({ limit: "10mb" })),
  });
  const { _id } = await getModel(Rope).create({ free: { a: 1 } });
  const nest = (open: string, close: string) => open.repeat(50_000) + "1" + close.repeat(50_000);
  const deep = [
    ...["name", "knot", "tags", "free", "undeclared"].map((key) =>
      `{"${key}":${nest('{"a":', "}")}}`
    ),
    ...["tags", "free", "name"].map((key) => `{"${key}":${nest("[", "]")}}`),
    `{"knot":${nest('{"child":', "}")}}`,
  ];
  for (const raw of deep) {
    for (const [method, path] of writes("/knots", _id)) {
      const reply = await app.send<ErrorBody>(method, path, { raw, headers: JSON_TYPE });
      assertEquals([raw.slice(0, 20), method, reply.status], [raw.slice(0, 20), method, 400]);
    }
  }
});

test("create() and update() answer 400 when the body is missing", async () => {
  await using app = await mount([Person]);
  const { _id } = await getModel(Person).create({ name: "Ada" });
  for (const headers of [{}, JSON_TYPE, { "content-type": "text/plain" }]) {
    for (const [method, path] of writes("/people", _id)) {
      const reply = await app.send<ErrorBody>(method, path, { headers: headers as never });
      assertEquals([reply.status, reply.body.code], [400, "BAD_FORMAT"]);
    }
  }
});

@rest({ route: "/replaced", methods: [replace()] })
class Kept extends FrameworkModel {
  @prop()
  name?: string;
}

test("a chunked body without bytes is missing, and changes nothing", async () => {
  await using app = await mount([Person, Kept]);
  const { _id } = await getModel(Person).create({ name: "Ada" });
  const kept = await getModel(Kept).create({ name: "Ada" });
  const { hostname, port } = new URL(app.url);
  const put = ["PUT", `/replaced/${kept._id}`] as const;
  const send = async ([method, path]: readonly [string, string], chunks: string) => {
    const socket = await Deno.connect({ hostname, port: Number(port) });
    const head = `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n` +
      "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    await socket.write(new TextEncoder().encode(`${head}${chunks}0\r\n\r\n`));
    return (await readToEnd(socket)).split(" ")[1];
  };
  for (const request of [...writes("/people", _id), put]) {
    assertEquals([request, await send(request, "")], [request, "400"]);
  }
  assertEquals((await getModel(Kept).findById(kept._id))?.name, "Ada");
  assertEquals(await send(put, "2\r\n{}\r\n"), "200");
});

test("create() and update() answer 400 when the body is no JSON object", async () => {
  await using app = await mount([Person], {
    prepare: (host) => host.use(express.json({ strict: false })),
  });
  const { _id } = await getModel(Person).create({ name: "Ada" });
  for (const raw of ["[]", `[{"name":"x"}]`, "null", "1", `"x"`, "true"]) {
    for (const [method, path] of writes("/people", _id)) {
      const reply = await app.send<ErrorBody>(method, path, { raw, headers: JSON_TYPE });
      assertEquals([raw, reply.status, reply.body.code], [raw, 400, "BAD_FORMAT"]);
    }
  }
});

test("create() and update() answer 415 when the body is not JSON", async () => {
  await using app = await mount([Person], {
    prepare: (host) => host.use(express.json(), express.urlencoded(), express.text()),
  });
  const { _id } = await getModel(Person).create({ name: "Ada" });
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
  ]
    .concat("application/octet-stream", "text/json-not", "");
  for (const type of types) {
    const headers = type === "" ? {} : { "content-type": type };
    for (const [method, path] of writes("/people", _id)) {
      const reply = await app.send<ErrorBody>(method, path, {
        raw: "name=Bob",
        headers: headers as never,
      });
      assertEquals([type, reply.status, reply.body.code], [type, 415, "UNSUPPORTED_MEDIA_TYPE"]);
    }
  }
  assertEquals((await getModel(Person).find()).map(({ name }) => name), ["Ada"]);
});

test("create() answers 500 and tells the application why when no parser is installed", async () => {
  const told: unknown[] = [];
  const onError = (_req: unknown, cause: unknown) => void told.push(cause);
  await using app = await mount([Person], { prepare: () => {}, onError });
  using error = stub(console, "error");
  const reply = await app.post<ErrorBody>("/people", { name: "Ada" });
  assertEquals([reply.status, reply.body.code], [500, "INTERNAL"]);
  assertEquals(reply.text.includes("express"), false);
  assertStringIncludes(String(told[0]), "express.json()");
  assertEquals([told.length, error.calls.map(({ args }) => args[0])], [1, told]);
});

test("update() takes application/merge-patch+json when the host parses it, else answers 415", async () => {
  const headers = { "content-type": "application/merge-patch+json" };
  const type = ["application/json", "application/merge-patch+json"];
  for (const [parser, status] of [[express.json({ type }), 200], [express.json(), 415]] as const) {
    await using app = await mount([Person], { prepare: (host) => host.use(parser) });
    const { _id } = await getModel(Person).create({ name: "Ada" });
    const path = `/people/${_id}`;
    const reply = await app.patch(path, { name: "Bob" }, { headers });
    assertEquals(reply.status, status);
    assertEquals((await getModel(Person).findById(_id))?.name, status === 200 ? "Bob" : "Ada");
  }
});
