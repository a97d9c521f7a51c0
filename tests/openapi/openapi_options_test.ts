import { assertEquals, assertThrows } from "@std/assert";
import express from "express";
import { all, create, Framework, FrameworkModel, prop, rest } from "../../mod.ts";
import { openapi, type OpenApiOptions } from "@mongrove/mongrove/openapi";
import { documentOf, INFO } from "../support/documented.ts";
import { Movie } from "../fixtures/movie.ts";
import { test } from "../harness/testing.ts";
import { start } from "../support/support.ts";

const cyclic: Record<string, unknown> = {};
cyclic.itself = cyclic;

Deno.test("openapi() refuses wrong options by name", () => {
  for (
    const [options, problem] of [
      [undefined, "the options are not an object"],
      [[], "the options are not an object"],
      [{}, '"info" is not an object with a "title" and a "version"'],
      [{ info: {} }, '"info" is not'],
      [{ info: { title: 1, version: "1" } }, '"info" is not'],
      [{ info: { ...INFO, description: 1 } }, '"info" is not'],
      [{ info: { ...INFO, license: 1n } }, '"info" is not JSON'],
      [{ info: { ...INFO, contact: cyclic } }, '"info" is not JSON'],
      [{ info: INFO, servers: [{}] }, '"servers" is not a list of objects with a "url"'],
      [{ info: INFO, servers: {} }, '"servers" is not'],
      [{ info: INFO, security: [{ key: 1 }] }, '"security" is not a list of objects of lists'],
      [{ info: INFO, securitySchemes: { key: 1 } }, '"securitySchemes" is not an object'],
      [{ info: INFO, docs: "no" }, '"docs" is neither true nor false'],
      [{ info: INFO, q: "text" }, '"q" is neither "content" nor "string"'],
      [{ info: INFO, version: "3.0" }, '"version" is neither "3.1" nor "3.2"'],
      [{ info: INFO, dcos: false }, 'openapi() has no option "dcos"'],
    ] as const
  ) {
    const describe = () => openapi({ models: [Movie] }, options as never);
    assertThrows(describe, TypeError, `Cannot describe an API: ${problem}`);
  }
});

test("openapi() tells all that the information and the servers have", async () => {
  const options: OpenApiOptions = {
    info: { ...INFO, license: { name: "MIT" }, contact: { email: "a@b.test" } },
    servers: [{ url: "https://{host}/", variables: { host: { default: "a.test" } } }],
  };
  const { document } = await documentOf([Movie], options);
  const { info, servers } = document as unknown as OpenApiOptions;
  assertEquals([info, servers], [options.info, options.servers]);
});

Deno.test("examples that have no text in JSON are errors that name class and operation", () => {
  for (const example of [{ b: 1n }, cyclic]) {
    @rest({ route: "/wrong", methods: [create({ example })] })
    class Wrong extends FrameworkModel {}
    const describe = () => Framework.describe({ models: [Wrong] });
    assertThrows(describe, TypeError, 'Cannot mount "Wrong": create() has "example"');
  }
});

Deno.test("a field's example that holds itself is an error that names the property", () => {
  @rest({ route: "/wrong", methods: [all()] })
  class Wrong extends FrameworkModel {
    @prop({ type: Object, example: cyclic } as { type: ObjectConstructor })
    free?: object;
  }
  const problem = 'property "free" has "example", which is not a value of JSON';
  assertThrows(() => Framework.describe({ models: [Wrong] }), TypeError, problem);
});

test("a guard of the paths of the document guards them, and no others", async () => {
  const app = express();
  app.use(["/openapi.json", "/docs"], (_req, res) => void res.sendStatus(401));
  app.use(openapi({ models: [Movie] }, { info: INFO }));
  app.get("/open", (_req, res) => void res.send("open"));
  const served = await start(app);
  const guarded = ["/openapi.json", "/docs", "/docs/", "/DOCS", "/docs/start.js", "/docs/a/b"];
  const replies = await Promise.all([...guarded, "/open"].map((path) => served.get(path)));
  await served.stop();
  assertEquals(replies.map(({ status }) => status), [...guarded.map(() => 401), 200]);
});
