import { assertEquals } from "@std/assert";
import { Framework } from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { documentOf } from "../../support/documented.ts";
import { Book } from "./shelf.ts";

const PICTURE = "/books/{id}/picture";

test("the document has the bytes of files, their headers and their errors", async () => {
  const { operation, schemas, validator, answer } = await documentOf([Book]);
  const get = operation("GET", PICTURE);
  assertEquals(get.summary, 'Read the file "picture"');
  const ok = get.responses[200];
  assertEquals(Object.keys(ok?.content ?? {}), [
    "image/*",
    "text/plain",
    "application/octet-stream",
  ]);
  assertEquals(Object.keys(ok?.headers ?? {}), ["ETag", "Content-Disposition", "Accept-Ranges"]);
  assertEquals(Object.keys(get.responses).slice(0, 4), ["200", "206", "304", "400"]);
  assertEquals("416" in get.responses, true);
  const put = operation("PUT", PICTURE);
  const types = Object.keys(put.requestBody?.content ?? {});
  assertEquals(types, ["image/*", "text/plain", "multipart/form-data"]);
  const { encoding } = Object(put.requestBody?.content?.["multipart/form-data"]);
  assertEquals(encoding, { file: { contentType: "image/*, text/plain" } });
  const match = put.parameters?.find(({ name }) => name === "If-Match");
  assertEquals(match?.required, true);
  for (const status of [412, 413, 415, 428]) assertEquals(status in put.responses, true);
  assertEquals("403" in operation("PUT", "/books/{id}/cover").responses, true);
  const isFile = validator(answer("PUT", PICTURE, 201));
  const file = { name: "a", type: "b/c", size: 1, sha256: "d", at: new Date().toISOString() };
  assertEquals([isFile(file), isFile({ ...file, size: "1" })], [true, false]);
  assertEquals("cover" in Object(schemas.BookNew?.properties), false);
  assertEquals("cover" in Object(schemas.Book?.properties), true);
});

test("describe() says which routes have bytes", () => {
  const routes = Framework.initialize({ models: [Book] }).describe();
  const ofPicture = routes.filter(({ path }) => path === "/books/:id/picture");
  assertEquals(ofPicture.map(({ method, bytes }) => [method, bytes]), [
    ["GET", { answer: ["image/*", "text/plain", "application/octet-stream"] }],
    ["PUT", { body: ["image/*", "text/plain", "multipart/form-data"], maxBytes: 100_000 }],
  ]);
});
