import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import express from "express";
import { admin } from "@mongrove/mongrove/admin";
import { all, Framework, FrameworkModel, prop, rest } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { serveAdmin } from "./admin_app.ts";

@rest({ route: "/pages", methods: [all()] })
class Leaf extends FrameworkModel {
  @prop()
  name?: string;
}

const scriptIn = (html: string) => /src="([^"]+)"/.exec(html)?.[1] ?? "";

test("the page has a strict policy, a script of its own and no other URLs", async () => {
  await using app = await serveAdmin([Leaf], { title: `A "<b>" & c` });
  const { status, headers, text } = await app.get<string>("/admin/");
  assertEquals(status, 200);
  assertStringIncludes(text, "<title>A &#34;&#60;b&#62;&#34; &#38; c</title>");
  const policy = headers.get("content-security-policy") ?? "";
  assertStringIncludes(policy, "default-src 'none'; script-src 'self';");
  assertStringIncludes(policy, "frame-ancestors 'none'");
  assertEquals(/script-src[^;]*unsafe/.test(policy), false);
  assertEquals([...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url), [
    "data:,",
    scriptIn(text),
  ]);
  assertEquals(headers.get("cache-control"), "no-cache");
});

test("the script is compressed, is kept by browsers, and has another name when it changes", async () => {
  await using app = await serveAdmin([Leaf]);
  const name = scriptIn((await app.get<string>("/admin/")).text);
  assertMatch(name, /^page-[\w-]{16}\.js$/);
  const encodings = [["gzip, deflate, br", "br"], ["gzip", "gzip"], ["identity", null]] as const;
  for (const [accepted, encoding] of encodings) {
    const response = await fetch(`${app.url}/admin/${name}`, {
      headers: { "accept-encoding": accepted },
    });
    const { headers } = response;
    assertEquals(response.status, 200);
    assertEquals(headers.get("cache-control"), "public, max-age=31536000, immutable");
    assertStringIncludes(headers.get("vary") ?? "", "Accept-Encoding");
    assertMatch(headers.get("content-type") ?? "", /javascript/);
    assertEquals(headers.get("content-encoding"), encoding);
    if (encoding !== null) assert(Number(headers.get("content-length")) < 500_000);
    assertStringIncludes(await response.text(), "routes.json");
  }
  assertEquals((await app.get("/admin/page-0123456789abcdef.js")).status, 404);
});

test("the page works below any path, and behind a proxy that strips a prefix", async () => {
  for (const at of ["/admin", "/back/office"]) {
    await using app = await serveAdmin([Leaf], {
      at,
      prepare: (app) => app.set("trust proxy", true),
    });
    const headers = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" };
    const { status, headers: answered } = await app.get(at, { headers });
    const last = at.slice(at.lastIndexOf("/") + 1);
    assertEquals([status, answered.get("location")], [302, `./${last}/`]);
    const { text } = await app.get<string>(`${at}/?x=1`, { headers });
    assertEquals((await app.get(`${at}/${scriptIn(text)}`)).status, 200);
    assertEquals(/evil|https?:/.test(text), false);
  }
  await using app = await serveAdmin([Leaf]);
  const { status, headers } = await app.get("//evil.example/admin");
  assertEquals([status, headers.get("location")], [404, null]);
});

test("the document is not kept by caches, and other methods and paths are left to the application", async () => {
  await using app = await serveAdmin([Leaf]);
  const { headers } = await app.get("/admin/routes.json");
  assertEquals(headers.get("cache-control"), "no-store");
  assertEquals(headers.get("x-content-type-options"), "nosniff");
  assertEquals((await app.post("/admin/routes.json", {})).status, 404);
  assertEquals((await app.get("/admin/built/page.js")).status, 404);
  assertEquals((await app.get("/admin/..%2fmod.ts")).status, 404);
});

test("admin() refuses wrong options, and what is no router", () => {
  const api = Framework.initialize({ models: [Leaf] });
  const wrong: [object | undefined, string][] = [
    [undefined, "the options are not an object"],
    [{}, `"title" is not a text`],
    [{ title: "" }, `"title" is not a text`],
    [{ title: "A", titel: "B" }, `admin() has no option "titel"`],
    [{ title: "A", see: true }, `"see" is not a function`],
    [{ title: "A", login: {} }, `"login.header" is not the name of a header`],
    [{ title: "A", login: { header: "a b", label: "B" } }, `"login.header" is not the name`],
    [{ title: "A", login: { header: "a", label: "B", prefix: "a\n" } }, `"login.prefix" is not`],
    [{ title: "A", login: { header: "a", label: "B", hint: "" } }, `"login" has no option "hint"`],
    ...["https://evil.example", "//evil.example", "\\\\evil.example", "javascript:x", "x?y"].map((
      apiPath,
    ): [object, string] => [{ title: "A", apiPath }, `"apiPath" is not a path`]),
  ];
  for (const [options, message] of wrong) {
    assertThrows(
      () => admin(api, options as never),
      TypeError,
      `Cannot serve the admin page: ${message}`,
    );
  }
  assertThrows(
    () => admin(express() as never, { title: "A" }),
    TypeError,
    "admin() takes the router",
  );
});

test("admin() refuses links to other servers", () => {
  const api = Framework.initialize({ models: [Leaf] });
  for (const path of ["https://evil.example", "//evil.example", "javascript:x", ""]) {
    const options = { title: "A", links: { Docs: path } };
    assertThrows(() => admin(api, options), TypeError, `"links.Docs" is not a path of the origin`);
  }
});

test("admin() refuses a session whose paths are missing or lead to other servers", () => {
  const api = Framework.initialize({ models: [Leaf] });
  const wrong: [unknown, string][] = [
    [true, `"session" is not an object`],
    [{ signIn: "/in", signOut: "/out", next: "/" }, `"session" has no option "next"`],
    [{ signIn: "/in" }, `"session.signOut" is not a path of the origin`],
    [{ signIn: "//evil.example", signOut: "/out" }, `"session.signIn" is not a path of the origin`],
  ];
  for (const [session, message] of wrong) {
    assertThrows(() => admin(api, { title: "A", session } as never), TypeError, message);
  }
});

test("the page with a session knows its paths, and may send a form to its own server alone", async () => {
  const session = { signIn: "../sign-in", signOut: "../sign-out" };
  const forms: [object, string][] = [[{}, "'none'"], [{ session }, "'self'"]];
  for (const [options, target] of forms) {
    await using app = await serveAdmin([Leaf], options);
    const policy = (await app.get("/admin/")).headers.get("content-security-policy") ?? "";
    assertMatch(policy, new RegExp(`form-action ${target}(;|$)`));
    assertEquals({ session: (await app.read()).session }, { session: undefined, ...options });
  }
});
