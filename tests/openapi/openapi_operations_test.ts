import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import express from "express";
import { Framework, FrameworkModel } from "../../mod.ts";
import { all, create, one, prop, remove, removeAll, rest, RestError, update } from "../../mod.ts";
import { openapi } from "@mongrove/mongrove/openapi";
import { type Document, documentOf, INFO, mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";
import { start } from "../support/support.ts";

@rest({
  route: "/tasks",
  methods: [
    all({ page: { size: 5, max: 50 }, sort: ["text"], count: true }),
    one(),
    create({
      summary: "Plan a task",
      description: "It is **open** at first.",
      tags: ["Planning"],
      deprecated: true,
      example: { text: "Sleep" },
      operationId: "planTask",
    }),
    update(),
    remove(),
    removeAll(),
  ],
  ifMatch: true,
})
class Task extends FrameworkModel {
  @prop({
    required: true,
    unique: true,
    summary: "The text",
    description: "What to do",
    deprecated: true,
    example: "Sleep",
  })
  text!: string;

  @prop({ default: "open", enum: ["open", "done"] as const })
  state!: "open" | "done";
}

const statuses = (operation: { readonly responses: object }) => Object.keys(operation.responses);

test("operations say what their options tell", async () => {
  const { operation } = await documentOf([Task]);
  const { requestBody, responses: _, parameters: __, ...told } = operation("POST", "/tasks");
  assertEquals(told, {
    operationId: "planTask",
    tags: ["Planning"],
    summary: "Plan a task",
    description: "It is **open** at first.",
    deprecated: true,
  });
  assertEquals(requestBody?.content["application/json"]?.example, { text: "Sleep" });
});

test("operations without options have names, summaries and tags", async () => {
  const { document } = await documentOf([Task]);
  const told = Object.values(document.paths).flatMap((item) => Object.values(item))
    .map(({ operationId, summary, tags }) => [operationId, summary, ...tags].join());
  assertEquals(told, [
    "allTasks,List tasks,Task",
    "planTask,Plan a task,Planning",
    "removeAllTasks,Remove tasks,Task",
    "oneTasks,Read a task,Task",
    "updateTasks,Change a task,Task",
    "removeTasks,Remove a task,Task",
  ]);
});

test("fields say what their options tell, and what a body that leaves them out gives them", async () => {
  const { schemas } = await documentOf([Task]);
  const { properties } = schemas.TaskNew as { properties: Record<string, object> };
  const words = { title: "The text", description: "What to do", deprecated: true };
  assertEquals(properties.text, {
    $ref: "#/components/schemas/StringInput",
    minLength: 1,
    ...words,
    examples: ["Sleep"],
  });
  assertEquals(
    (properties.state as { description: string }).description,
    'If it is left out: `"open"`',
  );
});

test("each operation has the statuses that it can answer", async () => {
  const { operation } = await documentOf([Task]);
  const of = (method: string, path: string) => statuses(operation(method, path)).join();
  assertEquals(of("GET", "/tasks"), "200,304,400,500,503,default");
  assertEquals(of("GET", "/tasks/{id}"), "200,304,400,404,500,503,default");
  assertEquals(of("POST", "/tasks"), "201,400,409,413,415,500,503,default");
  assertEquals(of("PATCH", "/tasks/{id}"), "200,204,400,404,409,412,413,415,428,500,503,default");
  assertEquals(of("DELETE", "/tasks/{id}"), "204,400,404,409,412,428,500,503,default");
  assertEquals(of("DELETE", "/tasks"), "204,400,409,500,503,default");
});

test("headers stand where they count", async () => {
  const { operation } = await documentOf([Task]);
  const headers = (method: string, path: string) =>
    (operation(method, path).parameters ?? []).filter((each) => each.in === "header")
      .map(({ name, required }) => `${name} ${required}`);
  assertEquals(headers("POST", "/tasks"), ["Prefer false"]);
  assertEquals(headers("PATCH", "/tasks/{id}"), ["If-Match true", "Prefer false"]);
  assertEquals(headers("DELETE", "/tasks/{id}"), ["If-Match true"]);
  assertEquals(headers("GET", "/tasks/{id}"), ["If-None-Match false"]);
  assertEquals(headers("GET", "/tasks"), ["If-None-Match false", "Prefer false"]);
  const answered = (method: string, path: string, status: number) =>
    Object.keys(operation(method, path).responses[status]?.headers ?? {});
  assertEquals(answered("GET", "/tasks", 200), [
    ...["ETag", "Link", "X-Total-Count", "Content-Range", "Preference-Applied"],
  ]);
  assertEquals(answered("POST", "/tasks", 201), ["ETag", "Location", "Preference-Applied"]);
  for (const status of [200, 204]) {
    assertEquals(answered("PATCH", "/tasks/{id}", status), ["ETag", "Preference-Applied"]);
  }
});

test("errors are as the document says, problem details too", async () => {
  await using app = await mountDocumented([Task]);
  const { responses } = app.document.components;
  const bodies: [string, string, object][] = [["TaskBadFormatOrBadData", "POST", {}], [
    ...["NotFound", "PATCH"],
    { text: "a" },
  ] as [string, string, object]];
  for (const [name, method, body] of bodies) {
    const path = method === "POST" ? "/tasks" : "/tasks/0123456789abcdef01234567";
    for (const type of ["application/json", "application/problem+json"]) {
      const headers = { accept: type, "if-match": "*" };
      const reply = await app.send(method, path, { body, headers });
      assertMatch(reply.headers.get("content-type") ?? "", new RegExp(type.replace("+", "\\+")));
      const schema = responses[name]?.content?.[type]?.schema;
      assert(schema !== undefined && app.validator(schema)(reply.body), reply.text);
    }
  }
});

class Door extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/huts", methods: [one()] })
class Hut extends FrameworkModel {
  @rest({ methods: [remove()] })
  @prop({ type: Door, required: true })
  front!: Door;

  @rest({ methods: [remove()] })
  @prop({ type: Door })
  back?: Door;
}

test("only the removal of a part that its parent requires breaks a rule", async () => {
  const { operation } = await documentOf([Hut]);
  const named = (path: string) => operation("DELETE", path).responses[400]?.$ref?.split("/").at(-1);
  assertEquals(["front", "back"].map((name) => named(`/huts/{id}/${name}`)), [
    "BadFormatOrBadData",
    "BadFormat",
  ]);
});

@rest({ route: "/a", methods: [all({ operationId: "same" })] })
class First extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/b", methods: [all({ operationId: "same" })] })
class Second extends FrameworkModel {
  @prop()
  text?: string;
}

Deno.test("openapi() refuses two operations with one operationId", () => {
  const problem = 'operationId "same" of GET /b is that of GET /a too';
  const models = [First, Second];
  assertThrows(() => openapi({ models }, { info: INFO }), TypeError, problem);
});

@rest({ route: "/t/:tenant/x", methods: [all()] })
@rest({ route: "/t/x", methods: [all()] })
class Third extends FrameworkModel {
  @prop()
  text?: string;
}

test("paths that differ by a parameter only have names of their own", async () => {
  const { operation } = await documentOf([Third]);
  assertEquals(operation("GET", "/t/x").operationId, "allTX");
  assertEquals(operation("GET", "/t/{tenant}/x").operationId, "allTTenantX");
  assertEquals(operation("GET", "/t/{tenant}/x").parameters?.[0]?.name, "tenant");
});

Deno.test("wrong words are errors at start-up that name the class and the operation", () => {
  for (
    const [words, problem] of [
      [{ summary: 1 }, 'all() has "summary", which is not a text'],
      [{ tags: "a" }, 'all() has "tags", which is not a list of texts'],
      [{ deprecated: "no" }, 'all() has "deprecated", which is not true or false'],
      [{ example: () => 1 }, 'all() has "example", which is not an object of JSON'],
      [{ operationId: "a b" }, 'all() has "operationId", which is not a name'],
    ] as const
  ) {
    @rest({ route: "/wrong", methods: [all(words as object)] })
    class Wrong extends FrameworkModel {}
    assertThrows(() => Framework.describe({ models: [Wrong] }), TypeError, problem);
  }
});

Deno.test("wrong words of a field are errors at start-up that name the property", () => {
  for (
    const [words, problem] of [
      [{ example: 1n }, 'property "text" has "example", which is not a value of JSON'],
    ] as const
  ) {
    @rest({ route: "/wrong", methods: [all()] })
    class Wrong extends FrameworkModel {
      @prop(words as object)
      text?: string;
    }
    assertThrows(() => Framework.describe({ models: [Wrong] }), TypeError, problem);
  }
});

test("a guard before the document decides who reads it", async () => {
  const api = Framework.initialize({ models: [Task] });
  const app = express();
  app.use("/v1", (req) => {
    if (req.headers.authorization !== "key") throw new RestError(401, "Who are you?");
    req.next?.();
  }, openapi(api, { info: INFO, security: [{ key: [] }], securitySchemes: { key: {} } }));
  app.use(Framework.errors());
  const served = await start(app);
  const { status } = await served.get("/v1/openapi.json");
  const document = await served.read<Document & { security: unknown }>("/v1/openapi.json", {
    headers: { authorization: "key" },
  });
  await served.stop();
  assertEquals([status, document.security, document.servers], [401, [{ key: [] }], [{ url: "." }]]);
  assertEquals(document.components.securitySchemes, { key: {} });
});

test("an open operation is described with the 403 of the guard where another @rest has the trash", async () => {
  @rest({ route: "/kept", methods: [all(), one()], trash: { see: () => true } })
  @rest({ route: "/shown", open: true, methods: [all(), create()] })
  class Kept extends FrameworkModel {
    @prop()
    text?: string;
  }
  await using app = await mountDocumented([Kept], { guard: () => true });
  const isRefused = (method: string, path: string) =>
    statuses(app.operation(method, path)).includes("403");
  assertEquals([isRefused("GET", "/kept"), isRefused("GET", "/shown")], [true, true]);
  assertEquals(isRefused("POST", "/shown"), false);
});
