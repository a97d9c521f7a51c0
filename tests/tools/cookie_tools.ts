import { assertEquals } from "@std/assert";
import express, { type Express } from "express";
import { all, create, Framework, FrameworkModel, getModel, one, prop } from "../../mod.ts";
import { type FrameworkRequest, replace, rest, RestError, StoredFile, update } from "../../mod.ts";
import { admin } from "@mongrove/mongrove/admin";
import { test } from "../harness/testing.ts";
import { openAdminBrowser } from "./support/admin_tab.ts";
import { openDownloads } from "./support/downloads.ts";
import { makeFile, PNG } from "./support/made_files.ts";

function signedIn({ headers }: FrameworkRequest): boolean {
  if (headers.cookie?.includes("session=ada")) return true;
  throw new RestError(401, { code: "UNAUTHENTICATED" });
}

const guard = { preFetch: signedIn };

@rest({
  route: "/notes",
  methods: [all({ ...guard, formats: ["csv"] }), one(guard), create(guard), update(guard)],
})
class Note extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 1_000_000, inline: true })
  file?: StoredFile;
}

const FORM = `<link rel="icon" href="data:,"><form method="post"><button>Sign in</button></form>`;

/** Serves notes below `/api`, for a session in a cookie that scripts cannot read. */
function buildApp(): Express {
  const app = express();
  app.use(express.json());
  app.get("/login", (_req, res) => void res.type("html").send(FORM));
  app.post("/login", (_req, res) => {
    res.cookie("session", "ada", { httpOnly: true, sameSite: "strict" }).redirect("/admin/");
  });
  const api = Framework.initialize({ models: [Note] });
  app.use("/api", api);
  app.use("/admin", admin(api, { title: "Notes", apiPath: "/api" }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}

const seed = async () => void await getModel(Note).create({ title: "First" });
const SAVE = "form button[type=submit]";

test("the page of an application with a session cookie asks for no token", async () => {
  await using browser = await openAdminBrowser({ buildApp, seed, path: "/admin/" });
  const tab = await browser.openTab("/notes");
  await tab.until("#root p", [
    "You are not signed in. Sign in to the application, and load this page again.",
  ]);
  await tab.page.goto(`${browser.app.url}/login`);
  await tab.click("button");
  await tab.click("main a[href='#/notes']");
  await tab.click("tbody ::-p-text(First)");
  await tab.fill("title", "Second");
  await tab.click(SAVE);
  await tab.until("#react-admin-title", ["Second"]);
  await using file = await makeFile("a.png", PNG);
  const chooser = tab.page.waitForFileChooser();
  await tab.click("section[aria-label=File] button");
  await (await chooser).accept([file.path]);
  await tab.page.waitForSelector(`section[aria-label=File] img[alt="a.png"]`);
  await using downloads = await openDownloads(tab.page);
  await tab.click("section[aria-label=File] a");
  assertEquals(await downloads.read("a.png"), PNG);
  assertEquals(await tab.page.evaluate("document.cookie + sessionStorage.length"), "0");
  await tab.page.deleteCookie(...await tab.page.cookies());
  await tab.fill("title", "Third");
  await tab.click(SAVE);
  await tab.page.waitForSelector("::-p-text(Cannot save the note)");
  assertEquals((await getModel(Note).findOne().orFail()).title, "Second");
  assertEquals(browser.refusals(), ["401"]);
});
