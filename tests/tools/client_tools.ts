import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import express from "express";
import type { Request, Response } from "express-types";
import type { FetchFunction } from "@mongrove/mongrove/client";
import bounds from "../../bench/sizes.json" with { type: "json" };
import { Film, Person } from "../fixtures/studio.ts";
import { test } from "../harness/testing.ts";
import { heldFetch } from "../client/held/held_fetch.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { mount } from "../support/support.ts";
import { bundle, bundleInParts } from "./support/bundle.ts";
import { useClient } from "./support/client_script.ts";
import { startChromium } from "./support/chromium.ts";
import { report } from "../harness/report.ts";
import { openRuntime, type RuntimeName } from "./support/runtimes.ts";

/** How many bytes the client may have in a browser, compressed, and how many more live lists load. */
const MOST = bounds.client;
const MOST_FOR_LIVE = 2_000;
const MOST_FOR_BATCH = 1_500;

const CLIENT = `export * from "@mongrove/mongrove/client";`;

test("a bundle of the client holds nothing of the server, and is small", async () => {
  const { text, files } = await bundle(CLIENT, { minify: true, format: "esm" });
  const foreign = files.filter((path) => path !== "<stdin>" && !path.startsWith("src/client/"));
  assertEquals(foreign, []);
  for (const name of ["mongoose", "express", "require", "node:"]) {
    assert(!text.includes(name), name);
  }
  const sizes = { start: 0, live: 0, batch: 0 };
  for (const [name, part] of await bundleInParts(CLIENT)) {
    const loaded = name === "live" || name === "batch" ? name : "start";
    sizes[loaded] += gzipSync(part).length;
  }
  const { start, live, batch } = sizes;
  const told = `${start} bytes compressed, ${live} that live() loads, ${batch} that batch() loads`;
  await report(`The client in a browser: ${told}; ${gzipSync(text).length} in one file`);
  assert(start < MOST && live < MOST_FOR_LIVE && batch < MOST_FOR_BATCH, told);
});

test("a bundle with a value of the core is refused", async () => {
  const code = `${CLIENT} export { prop } from "./mod.ts";`;
  await assertRejects(() => bundle(code, { format: "esm" }), Error, "Could not resolve");
});

/** Serves movies below `/api`, a route that is away every other time, a list that takes its time, and a live one. */
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
      app.get("/api/live", sendLive);
      app.get("/api/studio", (req, _res, next) => void (req.query.slow ?? next()));
    },
  });
}

/** Sends a list in pieces that end in a character and in a line; the connection breaks, and the next one continues. */
function sendLive({ headers: { "last-event-id": place } }: Request, res: Response): void {
  const put = 'event: put\ndata: {"entity":{"_id":"1","name":"Ä"}}\n\nevent: put\r\n';
  const rest = 'data: {"entity":{"_id":"2","name":"B"}}\r\n\r\nevent: ready\nid: p1\ndata: {}\n\n';
  const bytes = new TextEncoder().encode(put + rest);
  const half = bytes.indexOf(0xc3) + 1;
  res.type("text/event-stream");
  if (place === undefined) {
    res.write(bytes.subarray(0, half));
    setTimeout(() => res.write(bytes.subarray(half)), 20);
    // On a busy machine a reader who is later gets one list of both connections.
    setTimeout(() => res.destroy(), 2000);
  } else res.write(`event: drop\ndata: {"_id":"1"}\n\nevent: ready\nid: ${place}\ndata: {}\n\n`);
}

/** What the script sees, wherever it runs. */
const SEEN = {
  names: ["B", "C", "Ärger & Co"],
  page: ["Ärger & Co", 3, "string"],
  one: [true, '"0.', true, true],
  written: ['"0"', "L", "none", 0],
  parts: ["Yes", [1979]],
  repeated: { name: "F" },
  followed: ["Ä,B", "B"],
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
  const isOfHost = (url: string) => /\/flaky\/|\/live$|[?&]slow=/.test(url);
  const send: FetchFunction = (url, init) =>
    isOfHost(url) ? fetch(url, init) : held.fetch(url, init);
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

for (const name of ["Node 22", "Node 26", "Bun"] satisfies RuntimeName[]) {
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
