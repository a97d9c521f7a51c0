import { assert, assertEquals, assertMatch } from "@std/assert";
import express from "express";
// Looked for at run time: while other test files run, Deno does not install packages reliably
import "swagger-ui-dist/absolute-path.js";
import { Framework } from "../../mod.ts";
import { openapi, type OpenApiOptions } from "@mongrove/mongrove/openapi";
import { Movie } from "../fixtures/movie.ts";
import { test } from "../harness/testing.ts";
import { start } from "../support/support.ts";

const INFO = { title: "Movies", version: "1.0.0" };

/** Serves the page of a model's document below `/v1`. */
async function serveDocs(options: Partial<OpenApiOptions> = {}) {
  const api = Framework.initialize({ models: [Movie] });
  const app = express();
  app.use("/v1", api, openapi(api, { info: INFO, ...options }));
  return await start(app);
}

/** What a page refers to. */
function linksIn(html: string): string[] {
  return [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = ""]) => link);
}

test("openapi() serves a page at /docs whose files have relative URLs, and are there", async () => {
  const app = await serveDocs();
  const page = await app.get("/v1/docs");
  const links = linksIn(page.text);
  const types = await Promise.all(links.map(async (link) => {
    const reply = await app.get(`/v1/${link}`);
    return [reply.status, link, reply.headers.get("content-type")?.split(";")[0]];
  }));
  await app.stop();
  assertEquals([page.status, page.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  assertEquals(types, [
    [200, "docs/favicon-32x32.png", "image/png"],
    [200, "docs/docs.css", "text/css"],
    [200, "docs/swagger-ui-bundle.js", "text/javascript"],
    [200, "docs/start.js", "text/javascript"],
  ]);
});

test("the style sheet of the page imports the one of swagger-ui, and neither file has other URLs", async () => {
  const app = await serveDocs();
  const [style, script] = [await app.get("/v1/docs/docs.css"), await app.get("/v1/docs/start.js")];
  const imported = await app.get("/v1/docs/swagger-ui.css");
  await app.stop();
  assertEquals([...style.text.matchAll(/url\(([^)]*)\)|https?:/g)].map(([, url]) => url), [
    '"swagger-ui.css"',
  ]);
  assertEquals(/https?:/.exec(script.text), null);
  assertEquals([imported.status, imported.headers.get("content-type")?.split(";")[0]], [
    200,
    "text/css",
  ]);
});

test("openapi() lets the page load what its own origin has, and no script but files", async () => {
  const app = await serveDocs();
  const { headers, text } = await app.get("/v1/docs");
  await app.stop();
  assertEquals(headers.get("content-security-policy")?.split("; "), [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
  assert(!/<script>|<style|style=/.test(text));
  assertEquals(headers.get("x-content-type-options"), "nosniff");
});

test("openapi() lets the page try requests on the servers that the options name", async () => {
  const urls = [
    "../",
    "/v2",
    "https://a.test/api",
    "https://a.test/other",
    "http://b.test:81",
    "x:y",
  ];
  const app = await serveDocs({ servers: urls.map((url) => ({ url })) });
  const { headers } = await app.get("/v1/docs");
  await app.stop();
  assertMatch(
    headers.get("content-security-policy") ?? "",
    /; connect-src 'self' https:\/\/a\.test http:\/\/b\.test:81; /,
  );
});

test("openapi() leads from /docs/ to the page by a relative URL", async () => {
  const app = await serveDocs();
  const reply = await app.get("/v1/docs/", { headers: { "x-forwarded-prefix": "/evil" } });
  await app.stop();
  assertEquals([reply.status, reply.headers.get("location")], [302, "../docs"]);
});

test("openapi() writes the title of the API into the page as text", async () => {
  const app = await serveDocs({ info: { ...INFO, title: `<script>"a" & 'b'` } });
  const { text } = await app.get("/v1/docs");
  await app.stop();
  assertMatch(text, /<title>&#60;script&#62;&#34;a&#34; &#38; 'b'<\/title>/);
});

test("openapi() serves no other file of the package that draws the page", async () => {
  const app = await serveDocs();
  const files = ["package.json", "index.html", "SWAGGER-UI.CSS", "..%2fpackage.json", "a/b"];
  const replies = await Promise.all(files.map((file) => app.get(`/v1/docs/${file}`)));
  await app.stop();
  assertEquals(replies.map(({ status }) => status), files.map(() => 404));
});

test("openapi() has no page with docs: false", async () => {
  const app = await serveDocs({ docs: false });
  const paths = ["/v1/docs", "/v1/docs/start.js", "/v1/docs/docs.css", "/v1/openapi.json"];
  const replies = await Promise.all(paths.map((path) => app.get(path)));
  await app.stop();
  assertEquals(replies.map(({ status }) => status), [404, 404, 404, 200]);
});
