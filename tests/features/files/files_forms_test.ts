import { assertEquals } from "@std/assert";
import { test } from "../../harness/testing.ts";
import { bytesOf, outcome, serveBook, sha256Of, storedCounts } from "./shelf.ts";

test("a form with one file stores the file", async () => {
  await using served = await serveBook();
  const { put, get } = served.cover;
  for (const size of [0, 1, 10, 65_536, 700_000, 1_000_000]) {
    const bytes = bytesOf(size, size);
    const form = new FormData();
    form.append("upload", new File([bytes], 'a "b" ü.png', { type: "image/png" }));
    const stored = await (await put(form)).json();
    assertEquals([stored.name, stored.type, stored.size, stored.sha256], [
      'a "b" ü.png',
      "image/png",
      size,
      await sha256Of(bytes),
    ]);
    assertEquals(new Uint8Array(await (await get()).arrayBuffer()), bytes);
  }
});

test("bytes that resemble a delimiter stay in the file", async () => {
  await using served = await serveBook();
  const { put, get } = served.cover;
  const content = "\r\n--x\r\r\n--xy-\r\n-\r\n\r\n--\r\n--x";
  for (const boundary of ["xyz", "-", "x".repeat(70)]) {
    const inner = content.replaceAll(`\r\n--${boundary}`, "");
    const body = `--${boundary}\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n` +
      `${inner}\r\n--${boundary}--\r\n`;
    // A stream sends its pieces one by one, so the delimiter is cut everywhere.
    const pieces = new ReadableStream({
      async start(controller) {
        for (const byte of new TextEncoder().encode(body)) {
          controller.enqueue(new Uint8Array([byte]));
          await Promise.resolve();
        }
        controller.close();
      },
    });
    const type = { "content-type": `multipart/form-data; boundary="${boundary}"` };
    assertEquals((await outcome(put(pieces, type)))[0] < 300, true);
    assertEquals(await (await get()).text(), inner, boundary);
  }
});

const FILE = 'Content-Disposition: form-data; name="f"; filename="a"\r\n\r\nx';

const BODIES = {
  "no form": "x",
  "no end": `--b\r\n${FILE}`,
  "a broken end": `--b\r\n${FILE}\r\n--b-`,
  "two files": `--b\r\n${FILE}\r\n--b\r\n${FILE}\r\n--b--`,
  "a text": '--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n--b--',
  "no headers": "--b\r\n\r\nx\r\n--b--",
  "long headers": `--b\r\n${"a: b\r\n".repeat(5000)}${FILE}\r\n--b--`,
  "a long rest": `--b\r\n${FILE}\r\n--b--${"x".repeat(5000)}`,
  "a preamble": `text\r\n--b\r\n${FILE}\r\n--b--`,
  "nothing": "",
};

test("a form in which nobody has chosen a file is a 400, and the stored file stays", async () => {
  await using served = await serveBook();
  const type = { "content-type": "multipart/form-data; boundary=b" };
  const form = (name: string, bytes: string) =>
    `--b\r\nContent-Disposition: form-data; name="f"; filename="${name}"\r\n` +
    `Content-Type: application/octet-stream\r\n\r\n${bytes}\r\n--b--\r\n`;
  for (const { put, get } of [served.cover, served.picture]) {
    assertEquals((await put("stored", { "content-type": "text/plain" })).status, 201);
    const refused = await put(form("", ""), type);
    assertEquals([refused.status, await refused.json()], [
      400,
      { code: "BAD_FORMAT", message: "The form has no file" },
    ]);
    assertEquals(await (await get()).text(), "stored");
  }
  const { put, get } = served.cover;
  assertEquals((await put(form("", "x"), type)).status, 200);
  assertEquals(await (await get()).text(), "x");
  assertEquals((await put(form("empty.txt", ""), type)).status, 200);
  assertEquals(await (await get()).text(), "");
});

const BOUNDARIES = ["", `; boundary=${"x".repeat(71)}`, '; boundary="ä"', "; boundary="];

test("a form that is no single file is a 400, and leaves nothing", async () => {
  await using served = await serveBook();
  const { put } = served.cover;
  const refused = [400, "BAD_FORMAT"] as const;
  for (const [name, body] of Object.entries(BODIES)) {
    const type = { "content-type": "multipart/form-data; boundary=b" };
    assertEquals(await outcome(put(body, type)), [...refused], name);
  }
  for (const boundary of BOUNDARIES) {
    const type = { "content-type": `multipart/form-data${boundary}` };
    assertEquals(await outcome(put(`--b\r\n${FILE}\r\n--b--`, type)), [...refused], boundary);
  }
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
});

test("the type and the size of a file in a form are checked", async () => {
  await using served = await serveBook();
  const { picture } = served;
  const formOf = (size: number, type: string) => {
    const form = new FormData();
    form.append("f", new File([bytesOf(size)], "a", { type }));
    return form;
  };
  assertEquals(await outcome(picture.put(formOf(1, "text/html"))), [415, "UNSUPPORTED_MEDIA_TYPE"]);
  assertEquals(await outcome(picture.put(formOf(100_001, "image/png"))), [
    413,
    "PAYLOAD_TOO_LARGE",
  ]);
  assertEquals(await outcome(picture.put(formOf(900_000, "image/png"))), [
    413,
    "PAYLOAD_TOO_LARGE",
  ]);
  assertEquals(await storedCounts(), { files: 0, chunks: 0 });
  assertEquals(await outcome(picture.put(formOf(100_000, "image/png"))), [201]);
});
