import { assertMatch, assertRejects } from "@std/assert";
import { readMongodVersion } from "./mongod_version.ts";

const mongod = Deno.env.get("MONGROVE_MONGOD") ?? "";

Deno.test({
  name: "readMongodVersion() reads the version of a mongod",
  ignore: mongod === "",
  fn: async () => {
    assertMatch(await readMongodVersion(mongod), /^\d+\.\d+\.\d+$/);
  },
});

Deno.test("readMongodVersion() refuses what is no mongod", async () => {
  await assertRejects(() => readMongodVersion(Deno.execPath()), Error, "deno");
});
