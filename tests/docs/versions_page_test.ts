import { assert } from "@std/assert";

const page = await Deno.readTextFile(new URL("../../docs/versions.md", import.meta.url));

Deno.test("docs/versions.md names the versions that deno.json, CI and the harness use", async () => {
  const read = (path: string) => Deno.readTextFile(new URL(`../../${path}`, import.meta.url));
  const { imports } = JSON.parse(await read("deno.json"));
  const [, deno = "none"] = /deno@([\d.]+)/.exec(await read(".ci/run")) ?? [];
  const [mongoose = "none"] = /\d+\.\d+\.\d+/.exec(imports.mongoose) ?? [];
  const [mongo = "none"] =
    /\b6\.\d+\.\d+\b/.exec(await read("tests/harness/mongo/mongod_sources.ts")) ?? [];
  for (const version of [deno, mongoose, mongo]) assert(page.includes(version), version);
});
