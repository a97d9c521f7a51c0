import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  prop,
  removeAll,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import { openapi } from "@mongrove/mongrove/openapi";
import { documentOf, INFO, mountDocumented } from "../support/documented.ts";
import { test } from "../harness/testing.ts";

function modelAt(route: `/${string}`, methods = [all()]) {
  @rest({ route, methods, schemaOptions: { collection: `at ${route}` } })
  class Place extends FrameworkModel {
    @prop({ unique: true })
    text?: string;
  }
  return Place;
}

@rest({ route: "/bare", methods: [create()] })
class Bare extends FrameworkModel {
  @prop()
  text?: string;
}

test("paths that differ by the names of parameters alone are one path", async () => {
  const models = [modelAt("/x/:a"), modelAt("/x", [update()])];
  const { document, operation } = await documentOf(models);
  const names = ["GET", "PATCH"].map((method) => {
    const { operationId, parameters = [] } = operation(method, "/x/{a}");
    return [operationId, ...parameters.filter((each) => each.in === "path").map((p) => p.name)];
  });
  assertEquals(Object.keys(document.paths), ["/x/{a}"]);
  assertEquals(names, [["allX", "a"], ["updateX", "a"]]);
});

test("paths and their parameters may have letters of any language", async () => {
  const models = ["/ÄÖ", "/ÜÖ", "/a/:größe", '/b/:"my-id"'].map((path) =>
    modelAt(path as `/${string}`)
  );
  await using app = await mountDocumented(models);
  const { paths } = app.document;
  const told = Object.entries(paths).map(([path, item]) => {
    const parameters = item.get?.parameters ?? [];
    const named = parameters.filter((each) => each.in === "path").map(({ name }) => name);
    return [path, item.get?.operationId, ...named];
  });
  assertEquals(told, [
    ["/ÄÖ", "allÄÖ"],
    ["/ÜÖ", "allÜÖ"],
    ["/a/{größe}", "allA", "größe"],
    ["/b/{my-id}", "allB", "my-id"],
  ]);
  const replies = await Promise.all(["/ÄÖ", "/a/1", "/b/1"].map((path) => app.get(path)));
  assertEquals(replies.map(({ status }) => status), [200, 200, 200]);
});

Deno.test("openapi() refuses paths that OpenAPI cannot say", () => {
  for (const path of ["/p{/:lang}/q", "/p/*rest", "/p/\\:a", "/p{/a}"] as const) {
    const describe = () => openapi({ models: [modelAt(path)] }, { info: INFO });
    assertThrows(describe, TypeError, `as in GET ${path}`);
  }
});

test("lists have an ETag and answer 304, unless they are long", async () => {
  const model = modelAt("/x", [all(), create()]);
  await using app = await mountDocumented([model]);
  const list = app.operation("GET", "/x");
  const read = list.parameters?.filter((each) => each.in === "header").map(({ name }) => name);
  const headers = [200, 304].map((status) => Object.keys(list.responses[status]?.headers ?? {}));
  assertEquals([read, headers], [["If-None-Match"], [["ETag"], ["ETag"]]]);
  await app.created("/x", { text: "a" });
  const etag = (await app.get("/x")).headers.get("etag") ?? "";
  const again = await app.get("/x", { headers: { "if-none-match": etag } });
  assertEquals([again.status, again.headers.get("etag")], [304, etag]);
  const many = Array.from({ length: 3_000 }, (_, index) => ({ text: `${index}`.padEnd(1_000) }));
  await getModel(model).collection.insertMany(many);
  assertEquals((await app.get("/x")).headers.get("etag"), null);
});

test("a creation clashes with unique values only, a removal of all with its limit only", async () => {
  const { operation } = await documentOf([modelAt("/x", [all(), create(), removeAll()]), Bare]);
  const hasConflict = (method: string, path: string) => 409 in operation(method, path).responses;
  assertEquals(["POST", "DELETE", "GET"].map((method) => hasConflict(method, "/x")), [
    ...[true, true, false],
  ]);
  assertEquals(hasConflict("POST", "/bare"), false);
});

test("where onError can answer, no status promises its code", async () => {
  const onError = () => new RestError(500, { code: "OTHER", message: "Sorry" });
  const models = [modelAt("/x")];
  const named: unknown[] = [];
  for (const options of [{}, { onError }]) {
    await using app = await mountDocumented(models, options);
    named.push(app.operation("GET", "/x").responses[500]?.$ref);
  }
  assertEquals(named, [
    "#/components/responses/Internal",
    "#/components/responses/InternalOrOther",
  ]);
});
