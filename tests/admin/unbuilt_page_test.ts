import { assertEquals } from "@std/assert";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { test } from "../harness/testing.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Loads the page, builds its script, and loads the page again. */
const PROGRAM = `
import express from "express";
import { Framework, FrameworkModel, define, one } from "./mod.ts";
import { admin } from "./src/admin/mod.ts";

class Book extends FrameworkModel {}
define(Book, { fields: {}, rest: { route: "/books", open: true, methods: [one()] } });
const api = Framework.initialize({ models: [Book] });
const app = express().use(api).use("/admin", admin(api, { title: "Books" }));
const server = app.listen(0, "127.0.0.1", async () => {
  const load = async () => {
    const { status, headers } = await fetch("http://127.0.0.1:" + server.address().port + "/admin/");
    return [status, headers.get("refresh")];
  };
  const before = [await load(), await load()];
  Deno.mkdirSync("src/admin/built");
  Deno.writeTextFileSync("src/admin/built/page.js", Deno.args[0]);
  let after = await load();
  while (after[0] === 404) after = await load();
  console.log(JSON.stringify([...before, after]));
  server.close();
});
`;

test("a page that was asked for before its script is built shows itself afterwards", async () => {
  const folder = await Deno.makeTempDir();
  for (const name of ["deno.json", "mod.ts", "src"]) {
    const filter = (path: string) => !path.endsWith("/built");
    await cp(join(ROOT, name), join(folder, name), { recursive: true, filter });
  }
  await Deno.writeTextFile(join(folder, "main.ts"), PROGRAM);
  const built = `export const PAGE = "${brotliCompressSync("1").toString("base64")}";`;
  const args = ["run", "-A", "--no-check", "--no-lock", "main.ts", built];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: folder })
    .output();
  const decoder = new TextDecoder();
  const loads = decoder.decode(stdout);
  assertEquals(loads, `[[404,"5"],[404,"5"],[200,null]]\n`, decoder.decode(stderr));
  await Deno.remove(folder, { recursive: true });
});
