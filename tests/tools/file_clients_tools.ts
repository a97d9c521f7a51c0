import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import express from "express";
import { all, create, FrameworkModel, one, prop, replace, rest, StoredFile } from "../../mod.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { tryCommand } from "../reach/support/run_command.ts";
import { mount } from "../support/support.ts";
import { startChromium } from "./support/chromium.ts";
import { PNG } from "./support/made_files.ts";

@rest({ route: "/clips", methods: [all(), one(), create()] })
class Clip extends FrameworkModel {
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 50_000_000, inline: true })
  file?: StoredFile;
}

/** The answer of a file to a request of a client. */
interface Answer {
  readonly range: string | undefined;
  readonly status: number;
}

/** Serves a file, and records the answers. `policy` is a header that the application sets. */
async function serveFile(bytes: Uint8Array<ArrayBuffer>, { type, policy }: {
  readonly type: string;
  readonly policy?: string;
}) {
  const answers: Answer[] = [];
  const app = await mount([Clip], {
    prepare: (app) =>
      app.use(express.json(), (req, res, next) => {
        if (policy !== undefined) res.set("Cross-Origin-Resource-Policy", policy);
        res.on("close", () => {
          if (req.method === "GET" && res.headersSent) {
            answers.push({ range: req.headers.range, status: res.statusCode });
          }
        });
        next();
      }),
  });
  const { _id } = await app.created("/clips", {});
  const path = `/clips/${_id}/file`;
  const put = async (bytes: Uint8Array<ArrayBuffer>) => {
    const init = { method: "PUT", headers: { "content-type": type }, body: bytes };
    const response = await fetch(app.url + path, init);
    assert(response.ok, await response.text());
  };
  await put(bytes);
  return { ...app, file: app.url + path, path, put, answers };
}

/** Serves an HTML page on an origin of its own. */
function servePage(html: string, headers: Readonly<Record<string, string>> = {}) {
  return serve((_req, res) => {
    res.writeHead(200, { "content-type": "text/html", ...headers }).end(html);
  });
}

test("a page of another origin shows a picture, unless the application forbids it", async () => {
  await using chromium = await startChromium();
  const isolated = { "cross-origin-embedder-policy": "require-corp" };
  for (
    const [policy, headers, width] of [
      [undefined, {}, 1],
      ["same-origin", {}, 0],
      ["cross-origin", {}, 1],
      [undefined, isolated, 0],
      ["cross-origin", isolated, 1],
    ] as const
  ) {
    await using app = await serveFile(PNG, { type: "image/png", ...policy && { policy } });
    const other = await servePage(`<img src="${app.file}">`, headers);
    const { page } = await chromium.open(other.url);
    assertEquals(await page.evaluate("document.images[0].naturalWidth"), width, `${policy}`);
    await other.stop();
  }
});

/** Forwards connections to a server, and cuts them after some bytes of its answer. */
async function cutAfter(most: number, to: string) {
  const proxy = createServer((socket) => {
    const upstream = connect(Number(new URL(to).port), "127.0.0.1");
    let sent = 0;
    socket.on("error", () => {}).pipe(upstream.on("error", () => {}));
    upstream.on("data", (bytes: Buffer) => {
      socket.write(bytes.subarray(0, most - sent));
      sent += bytes.length;
      if (sent < most) return;
      socket.end();
      upstream.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => proxy.close() };
}

test("curl continues a broken download, and does not join two files", async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  const large = new Uint8Array(Buffer.concat(Array.from({ length: 100 }, () => bytes)));
  await using app = await serveFile(large, { type: "application/zip" });
  const cwd = await Deno.makeTempDir();
  const proxy = await cutAfter(2_000_000, app.url);
  const curl = (...args: string[]) => tryCommand("curl", ["-sS", "-o", "a.zip", ...args], { cwd });
  const etag = (await fetch(app.file, { method: "HEAD" })).headers.get("etag") ?? "";
  assertEquals((await curl(proxy.url + app.path)).code, 18);
  const { size } = await Deno.stat(`${cwd}/a.zip`);
  assert(size > 1_000_000 && size < large.length, `${size}`);
  const ifRange = ["-H", `If-Range: ${etag}`];
  assertEquals((await curl("-C", "-", ...ifRange, app.file)).code, 0);
  assert(Buffer.from(large).equals(await Deno.readFile(`${cwd}/a.zip`)));
  assertEquals(app.answers.at(-1), { range: `bytes=${size}-`, status: 206 });
  await Deno.truncate(`${cwd}/a.zip`, size);
  await app.put(large.subarray(1));
  // 33 is the code of curl for a server that sends the whole file.
  assertEquals((await curl("-C", "-", ...ifRange, app.file)).code, 33);
  assertEquals((await Deno.stat(`${cwd}/a.zip`)).size, size);
  proxy.stop();
  await Deno.remove(cwd, { recursive: true });
});

/** The bytes of each second of sound. */
const RATE = 8000;

/** Makes a WAV file of silence: one channel, with one byte for each sample. */
function silence(seconds: number): Uint8Array<ArrayBuffer> {
  const file = Buffer.alloc(44 + seconds * RATE, 0x80);
  file.write("RIFF", 0);
  file.writeUInt32LE(file.length - 8, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  for (const [at, value] of [[20, 1], [22, 1], [32, 1], [34, 8]] as const) {
    file.writeUInt16LE(value, at);
  }
  for (const at of [24, 28]) file.writeUInt32LE(RATE, at);
  file.write("data", 36);
  file.writeUInt32LE(seconds * RATE, 40);
  return new Uint8Array(file);
}

const SEEK = `new Promise((resolve, reject) => {
  const audio = document.querySelector("audio");
  audio.onseeked = () => resolve([audio.duration, audio.currentTime]);
  audio.onerror = () => reject(new Error(audio.error.message));
  audio.currentTime = 3000;
})`;

test("Chromium plays sound from the middle by a range of the file", async () => {
  await using chromium = await startChromium();
  await using app = await serveFile(silence(3600), { type: "audio/wav" });
  const other = await servePage(`<audio preload="metadata" src="${app.file}"></audio>`);
  const { page } = await chromium.open(other.url);
  await page.waitForFunction(`document.querySelector("audio").readyState > 0`);
  assertEquals(await page.evaluate(SEEK), [3600, 3000]);
  await page.close();
  await other.stop();
  const starts = app.answers.map(({ range }) => Number(/^bytes=(\d+)-/.exec(range ?? "")?.[1]));
  assert(starts.some((start) => start > 2000 * RATE), `${starts}`);
  assertEquals(new Set(app.answers.map(({ status }) => status)), new Set([206]));
});
