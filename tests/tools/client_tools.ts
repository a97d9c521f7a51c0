import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import express from "express";
import type { Fetch } from "@mongrove/mongrove/client";
import { Film, Person } from "../fixtures/studio.ts";
import { test } from "../harness/testing.ts";
import { heldFetch } from "../held/held_fetch.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { mount } from "../support.ts";
import { bundle } from "./support/bundle.ts";
import { useClient } from "./support/client_script.ts";
import { startChromium } from "./support/chromium.ts";
import { report } from "../harness/report.ts";
import { openRuntime, type RuntimeName } from "./support/runtimes.ts";

/** How many bytes the client may have in a browser, compressed. */
const MOST = 4_000;

const CLIENT = `export * from "@mongrove/mongrove/client";`;

test("a bundle of the client holds nothing of the server, and is small", async () => {
  const { text, files } = await bundle(CLIENT, { minify: true, format: "esm" });
  const foreign = files.filter((path) => path !== "<stdin>" && !path.startsWith("src/client/"));
  assertEquals(foreign, []);
  for (const name of ["mongoose", "express", "require", "node:"]) {
    assert(!text.includes(name), name);
  }
  const { length } = gzipSync(text);
  await report(`The client in a browser: ${text.length} bytes, ${length} compressed`);
  assert(length < MOST, `${length} bytes`);
});

test("a bundle with a value of the core is refused", async () => {
  const code = `${CLIENT} export { prop } from "./mod.ts";`;
  await assertRejects(() => bundle(code, { format: "esm" }), Error, "Could not resolve");
});

/** Serves movies below `/api`, a route that is away every other time, and a list that takes its time. */
async function serveStudio() {
  let asked = 0;
  return await mount([Film, Person], {
    at: "/api",
    prepare: (app) => {
      app.use(express.json());
      app.get("/api/flaky/1", (_req, res) => {
        if (++asked % 2 === 1) res.status(503).set("retry-after", "0").end();
        else res.json({ name: "F" });
      });
      app.get("/api/studio", (req, _res, next) => void (req.query.slow ?? next()));
    },
  });
}

/** What the script sees, wherever it runs. */
const SEEN = {
  names: ["B", "C", "Ärger & Co"],
  page: ["Ärger & Co", 3, "string"],
  one: [true, '"0.', true, true],
  written: ['"0"', "L", "none", 0],
  parts: ["Yes", [1979]],
  repeated: { name: "F" },
  conflict: [412, "PRECONDITION_FAILED", []],
  invalid: [400, "BAD_DATA", ["name"]],
  missing: [404, "NOT_FOUND", []],
  aborted: "RangeError",
  late: "TimeoutError",
  removed: "undefined",
};

const SCRIPT = `import { useClient } from "./tests/tools/support/client_script.ts";`;

test("all that the script sends and gets is as the OpenAPI document says", async () => {
  await using app = await serveStudio();
  const held = await heldFetch([Film, Person], fetch);
  // What the host adds to the API is not in its document
  const isOfHost = (url: string) => /\/flaky\/|[?&]slow=/.test(url);
  const send: Fetch = (url, init) => isOfHost(url) ? fetch(url, init) : held.fetch(url, init);
  assertEquals(await useClient(`${app.url}/api`, send), SEEN);
  held.check();
});

/** Runs the script in a runtime of the command line. */
async function runIn(command: string, ...args: string[]): Promise<unknown> {
  const code = `${SCRIPT} console.log(JSON.stringify(await useClient(process.argv[2])));`;
  const { text } = await bundle(code, { format: "esm" });
  await using app = await serveStudio();
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-client-" });
  try {
    await Deno.writeTextFile(join(cwd, "main.mjs"), text);
    return JSON.parse(await runCommand(command, [...args, "main.mjs", `${app.url}/api`], { cwd }));
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

test("the client works in Deno", async () => {
  const args = ["run", "--quiet", "--no-config", "--allow-net"];
  assertEquals(await runIn(Deno.execPath(), ...args), SEEN);
});

for (const name of ["Node 20", "Node 26", "Bun"] satisfies RuntimeName[]) {
  test(`the client works in ${name}`, async () => {
    assertEquals(await runIn(await openRuntime(name)), SEEN);
  });
}

test("the client works in Chromium", async () => {
  const code = `${SCRIPT} globalThis.useClient = useClient;`;
  const { text: content } = await bundle(code, { format: "iife" });
  await using app = await serveStudio();
  await using chromium = await startChromium();
  await using opened = await chromium.open(`${app.url}/api/people`);
  await opened.page.addScriptTag({ content });
  assertEquals(await opened.page.evaluate("useClient('/api')"), SEEN);
  assertEquals(opened.foreign, []);
});
