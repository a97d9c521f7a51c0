import { assertEquals } from "@std/assert";
import { all, arrayProp, create, FrameworkModel, one, prop, rest } from "../../mod.ts";
import type { FrameworkRequest, InitializeOptions } from "../../mod.ts";
import { keys } from "../../src/keys/mod.ts";
import { test } from "../harness/testing.ts";
import { type AdminServerOptions, isGuest, serveAdmin, staffOnly } from "./admin_app.ts";

class Remark extends FrameworkModel {
  @prop()
  text?: string;
}

@rest({ route: "/memos", methods: [all(), one(), create({ preFetch: staffOnly })] })
class Memo extends FrameworkModel {
  @prop()
  text?: string;

  @rest({ methods: [all({ preFetch: staffOnly })] })
  @arrayProp({ items: Remark, embedded: true })
  remarks?: Remark[];
}

const KEYED: InitializeOptions = {
  actor: ({ headers }: FrameworkRequest) => headers.role === "nobody" ? undefined : 7,
  plugins: [keys({ owner: () => ({}) })],
};

async function keysFor(role: string, options: AdminServerOptions = {}) {
  await using app = await serveAdmin([Memo], { initialize: KEYED, ...options });
  return (await app.read(role)).keys;
}

test("a known user gets the names of the operations that the user may use", async () => {
  const operations = ["all", "create", "rotate", "remove"];
  const scopes = ["memos:all", "memos:create", "memos:one", "memos/remarks:all"];
  assertEquals(await keysFor("staff"), { owner: "7", operations, scopes });
  assertEquals(await keysFor("guest"), {
    owner: "7",
    operations,
    scopes: ["memos:all", "memos:one"],
  });
});

test("nobody else, and no page without the plugin, has keys", async () => {
  assertEquals(await keysFor("nobody"), undefined);
  const { plugins: _, ...unkeyed } = KEYED;
  assertEquals(await keysFor("staff", { initialize: unkeyed }), undefined);
});

test("the option see leaves routes of keys out", async () => {
  const see: AdminServerOptions["see"] = (req, { model, operation }) =>
    model !== "keys" || !isGuest(req as FrameworkRequest) && operation !== "create";
  assertEquals((await keysFor("staff", { see }))?.operations, ["all", "rotate", "remove"]);
  assertEquals(await keysFor("guest", { see }), undefined);
});
