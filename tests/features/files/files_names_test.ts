import { assertEquals } from "@std/assert";
import { requestRaw } from "../../harness/request_raw.ts";
import { test } from "../../harness/testing.ts";
import { serveBook } from "./shelf.ts";

const NAMES: [disposition: string, name: string, answer?: string][] = [
  ['attachment; filename="a.txt"', "a.txt", 'filename="a.txt"'],
  ["attachment; filename=a.txt", "a.txt"],
  ['attachment; filename="a;b,c.txt"', "a;b,c.txt"],
  [
    String.raw`attachment; filename="a\"b.txt"`,
    'a"b.txt',
    `filename="a_b.txt"; filename*=UTF-8''a%22b.txt`,
  ],
  [
    "attachment; filename=\"x\"; filename*=UTF-8''%e2%82%ac%20rates",
    "€ rates",
    `filename="_ rates"; filename*=UTF-8''%E2%82%AC%20rates`,
  ],
  ["attachment; filename*=iso-8859-1'en'%A3%20rates", "£ rates"],
  ["attachment; filename=\"x\"; filename*=UTF-8''%ff", "x"],
  ["attachment; filename*=UTF-8''a%0d%0aSet-Cookie:%20b=1", "aSet-Cookie: b=1"],
  ["attachment; filename*=UTF-8''..%2F..%5Cetc%2fpasswd", "....etcpasswd"],
  ["attachment; filename*=UTF-8''%E2%80%AEgpj.exe", "gpj.exe"],
  ["attachment; filename*=UTF-8''it%27s%20%28a%29%2a", "it's (a)*", `filename="it's (a)*"`],
  ['attachment; filename=".."', "cover"],
  ['attachment; filename=""', "cover"],
  ['attachment; filename="/"', "cover"],
  ["attachment", "cover"],
  [
    'attachment; filename="unclosed',
    '"unclosed',
    `filename="_unclosed"; filename*=UTF-8''%22unclosed`,
  ],
  [`attachment; filename="${"x".repeat(300)}.png"`, "x".repeat(255)],
  [`attachment; filename*=UTF-8''${"%F0%9F%98%80".repeat(300)}`, "😀".repeat(255)],
];

test("names of files are cleaned, and sent in a form that every client reads", async () => {
  await using served = await serveBook();
  const { put, get } = served.cover;
  for (const [disposition, name, sent] of NAMES) {
    const stored = await put("x", { "content-disposition": disposition });
    assertEquals((await stored.json()).name, name, disposition);
    const answer = await get();
    await answer.body?.cancel();
    const header = String(answer.headers.get("content-disposition"));
    if (sent !== undefined) assertEquals(header, `attachment; ${sent}`);
    assertEquals(
      /^attachment; filename="[\x20-\x7e]*"(; filename\*=UTF-8''[!-~]+)?$/.test(header),
      true,
    );
  }
});

test("a name in plain UTF-8 is read as such", async () => {
  await using served = await serveBook();
  const { app, path } = served;
  const head =
    `PUT ${path}/cover HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1\r\n`;
  for (const name of ["Übung.txt", "日本.txt"]) {
    const answer = await requestRaw(
      app.url,
      `${head}Content-Disposition: attachment; filename="${name}"\r\n\r\nx`,
    );
    assertEquals(JSON.parse(answer.body).name, name);
  }
  const latin = new TextEncoder().encode(
    `${head}Content-Disposition: attachment; filename="?.txt"\r\n\r\nx`,
  )
    .map((byte) => byte === 63 ? 0xfc : byte);
  assertEquals(JSON.parse((await requestRaw(app.url, latin)).body).name, "ü.txt");
});
