import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  one,
  prop,
  type Ref,
  removeAll,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { type ErrorBody, mount } from "../support/support.ts";
import { onlyStrict } from "../support/only_strict.ts";

class Note extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({
  route: "/tasks",
  methods: [
    all({ parameters: ["page"] }),
    one({ parameters: ["view"] }),
    create(),
    update(),
    removeAll({ parameters: ["confirm", "reason"], preFetch: (req) => req.query.confirm !== "no" }),
  ],
})
class Task extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @rest({ methods: [all(), removeAll()] })
  @arrayProp({ items: Note, embedded: true })
  notes?: Note[];

  @rest({ methods: [removeAll({ parameters: ["force"] })] })
  @arrayProp({ items: () => Tag })
  tags?: Ref<Tag>[];
}

@rest({ route: "/tags", methods: [create(), removeAll()] })
class Tag extends FrameworkModel {
  @prop()
  name?: string;
}

const MODELS = [Task, Tag];

for (
  const query of ["ids=1,2", "Q=%7B%22title%22:%22a%22%7D", "%20q=%7B%7D", "a=1%26q=%7B%7D", "=x"]
) {
  test(`removeAll() refuses ?${query} and removes nothing`, async () => {
    await using api = await mount(MODELS);
    await api.created("/tasks", { title: "a" });
    for (const path of ["/tasks", "/tasks/", "/TASKS"]) {
      const { status, body } = await api.delete<ErrorBody>(`${path}?${query}`);
      assertEquals([status, body.code], [400, "BAD_FORMAT"]);
    }
    assertEquals((await api.read<unknown[]>("/tasks")).length, 1);
  });
}

test("removeAll() names the parameter that it refuses", async () => {
  await using api = await mount(MODELS);
  const { body } = await api.delete("/tasks?q=%7B%7D&ids=1");
  assertEquals(body, {
    code: "BAD_FORMAT",
    message: 'Parameter "ids" is not allowed',
    parameter: "ids",
  });
});

test("removeAll() takes q, and the parameters that it declares", async () => {
  await using api = await mount(MODELS);
  await api.created("/tasks", { title: "a" });
  await api.created("/tasks", { title: "b" });
  const q = encodeURIComponent('{"title":"a"}');
  assertEquals((await api.delete(`/tasks?confirm=yes&reason=old&q=${q}`)).status, 204);
  assertEquals((await api.read<unknown[]>("/tasks")).length, 1);
  assertEquals((await api.delete("/tasks?")).status, 204);
  assertEquals(await api.read<unknown[]>("/tasks"), []);
});

for (const sent of [{ q: { title: "a" } }, [], "text"]) {
  test(`removeAll() refuses the body ${JSON.stringify(sent)} and removes nothing`, async () => {
    await using api = await mount(MODELS);
    await api.created("/tasks", { title: "a" });
    const { status, body } = await api.send<ErrorBody>("DELETE", "/tasks", { body: sent });
    assertEquals([status, body.code], [400, "BAD_FORMAT"]);
    assertEquals((await api.read<unknown[]>("/tasks")).length, 1);
  });
}

test("removeAll() refuses a body that no parser has read", async () => {
  await using api = await mount(MODELS, { prepare: () => {} });
  const { status } = await api.send("DELETE", "/tasks", { body: { q: {} } });
  assertEquals(status, 400);
});

test("removeAll() takes an empty object for no body", async () => {
  await using api = await mount(MODELS);
  assertEquals((await api.send("DELETE", "/tasks", { body: {} })).status, 204);
});

test("preFetch hooks answer before a parameter is refused", async () => {
  await using api = await mount(MODELS);
  assertEquals((await api.delete("/tasks?ids=1&confirm=no")).status, 403);
});

test("removeAll() of a part takes its own parameters and those of its parents", async () => {
  await using api = await mount(MODELS);
  const { _id } = await api.created("/tasks", { title: "a", notes: [{ text: "n" }] });
  const notes = `/tasks/${_id}/notes`;
  assertEquals((await api.delete(`${notes}?force=1`)).status, 400);
  assertEquals((await api.read<unknown[]>(notes)).length, 1);
  assertEquals((await api.delete(`${notes}?view=short`)).status, 204);
  assertEquals((await api.delete(`/tasks/${_id}/tags?ids=1`)).status, 400);
  assertEquals((await api.delete(`/tasks/${_id}/tags?force=1`)).status, 204);
});

test("other operations leave parameters to their hooks", async () => {
  await using api = await mount(MODELS);
  assertEquals((await api.get("/tasks?ids=1&page=2")).status, 200);
  assertEquals((await api.post("/tasks?ids=1", { title: "a" })).status, 201);
});

test("strict parameters refuse undeclared parameters of every operation", async () => {
  await using api = await mount(MODELS, { strict: onlyStrict("parameters") });
  const { _id } = await api.created("/tasks", { title: "a" });
  const sent = { title: "b" };
  const statuses = [
    await api.get("/tasks?ids=1"),
    await api.get("/tasks?page=2&q=%7B%7D"),
    await api.get(`/tasks/${_id}?page=2`),
    await api.get(`/tasks/${_id}?view=short`),
    await api.post("/tasks?ids=1", sent),
    await api.post("/tasks?q=%7B%7D", sent),
    await api.patch(`/tasks/${_id}?view=short`, sent),
    await api.patch(`/tasks/${_id}?q=%7B%7D`, sent),
    await api.get(`/tasks/${_id}/notes?view=short`),
    await api.get(`/tasks/${_id}/notes?page=2`),
  ].map(({ status }) => status);
  assertEquals(statuses, [400, 200, 400, 200, 400, 400, 400, 200, 200, 400]);
  assertEquals((await api.read<{ title: string }>(`/tasks/${_id}`)).title, "b");
  assertEquals((await api.read<unknown[]>("/tasks")).length, 1);
});

test("a hook may read a parameter that it declares, in a strict route too", async () => {
  @rest({
    route: "/strict",
    methods: [all({
      parameters: ["deny"],
      preFetch: (req) => {
        if (req.query.deny !== undefined) throw new RestError(402, "Denied");
        return true;
      },
    })],
  })
  class Strict extends FrameworkModel {}
  await using api = await mount([Strict], { strict: onlyStrict("parameters") });
  assertEquals((await api.get("/strict?deny=1")).status, 402);
  assertEquals((await api.get("/strict")).status, 200);
});

test("describe() names the parameters that an operation and its parents declare", () => {
  const named = (operation: string, path: string) =>
    Framework.describe({ models: [Task] })
      .find((route) => route.operation === operation && route.path === path)
      ?.parameters.map(({ name }) => name);
  assertEquals(named("removeAll", "/tasks"), ["q", "confirm", "reason"]);
  assertEquals(named("removeAll", "/tasks/:id/tags"), ["id", "q", "view", "force"]);
  assertEquals(named("create", "/tasks"), []);
});

for (const parameters of ["page", [""], ["q"], [1]]) {
  test(`parameters ${JSON.stringify(parameters)} are a start-up error`, () => {
    @rest({ route: "/wrong", methods: [all({ parameters: parameters as string[] })] })
    class Wrong extends FrameworkModel {}
    assertThrows(
      () => Framework.initialize({ models: [Wrong] }),
      TypeError,
      'Cannot mount "Wrong": "parameters" of all() is not a list of names other than "q"',
    );
  });
}

test("the words that strict has replaced fail the start", () => {
  for (const old of ["parameters", "bodies"]) {
    assertThrows(
      () => Framework.initialize({ models: [Task], [old]: "strict" }),
      TypeError,
      `Cannot initialize: there is no option "${old}", which is now "strict"`,
    );
  }
});
