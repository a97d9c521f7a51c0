import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { FileJson } from "@mongrove/mongrove/client";
import { buildPage } from "../../examples/admin/build.ts";
import { SECRET_KEY } from "../../examples/movies/hooks/authenticated.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { openAdmin, ROWS, type Tab } from "./support/admin_page.ts";
import { type MadeFile, makeFile, PNG } from "./support/made_files.ts";
import type { OpenExample } from "./support/example.ts";

interface Movie {
  readonly _id: string;
  readonly name: string;
  readonly description: string;
  readonly year?: number;
  readonly actors: readonly string[];
}

const SAVE = "button[type=submit]";
const MESSAGE = ".MuiSnackbarContent-message";
const DELETE = "button[aria-label=Delete]";
const CONFIRM = ".ra-confirm";
const DIALOG = "[role=dialog]";
const CHIPS = ".MuiAutocomplete-root .MuiChip-label";
const TICKED = "tbody input:checked";
const TITLE = "#react-admin-title";
const CONFLICT = "Somebody else has changed this since you opened it, so nothing was saved or " +
  "deleted. The form has what is stored now, and what you have typed.";

function errorOf(field: string): string {
  return `.ra-input-${field} .MuiFormHelperText-root`;
}

/** Reads the movie with a name. */
async function find(app: OpenExample, name: string): Promise<Movie | undefined> {
  const q = encodeURIComponent(JSON.stringify({ name }));
  return (await app.read<Movie[]>(`/movies?q=${q}`))[0];
}

async function names(app: OpenExample, path: string): Promise<string[]> {
  return (await app.read<Movie[]>(path)).map(({ name }) => name);
}

/** Gives the addresses of both pages, once they are printed; reads on to the end, as more is. */
async function readPages(stdout: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string[]> {
  const pages = Promise.withResolvers<string[]>();
  const read = async () => {
    let text = "";
    for await (const part of stdout.pipeThrough(new TextDecoderStream())) {
      text += part;
      const urls = text.match(/^http:\S+\/(docs|admin)(?=\s)/gm) ?? [];
      if (urls.length === 2) pages.resolve(urls);
    }
    throw new Error(`It prints no addresses: ${text}`);
  };
  read().catch(pages.reject);
  return await pages.promise;
}

test("the script of examples/admin has the client in it, and nothing of the server", async () => {
  const script = await buildPage({ minify: false });
  const modules = [...script.matchAll(/^\/\/ (.*\/.*\.[cm]?[jt]sx?)$/gm)].map(([, path]) => path);
  const holds = (part: string) => modules.some((path) => path?.includes(part));
  assert(["src/client/connect.ts", "/react-admin/"].every(holds), modules.slice(-20).join("\n"));
  const refused = ["mongoose", "mongodb", "bson", "/express/", "src/declare", "examples/movies"];
  assertEquals(refused.filter(holds), []);
  assertEquals(/mongoose|mongodb/i.exec(script), null);
});

test("examples/admin names and serves its pages with the permissions of its task, and stops on SIGTERM", async () => {
  await using database = await openDatabase();
  const allowed = ["env", "net", "sys", "read", "run"].map((name) => `--allow-${name}`);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", ...allowed, "examples/admin/main.ts"],
    cwd: new URL("../../", import.meta.url),
    env: { MONGODB_URI: database.uri, DEMO_DATABASE: database.name, PORT: "0" },
    stdout: "piped",
  }).spawn();
  const [docs = "", url = ""] = await readPages(child.stdout);
  const replies = await Promise.all([fetch(url), fetch(`${url}/page.js`), fetch(docs)]);
  const texts = await Promise.all(replies.map((reply) => reply.text()));
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 0);
  assertStringIncludes(texts[0] ?? "", `src="/admin/page.js"`);
  assertStringIncludes(texts[1] ?? "", "Somebody else has changed this");
  assertStringIncludes(texts[2] ?? "", "swagger-ui");
});

test("a list shows movies in the order, the page and the filter that are clicked", async () => {
  await using admin = await openAdmin();
  const { app } = admin;
  const tab = await admin.openTab("/movies");
  await tab.until(ROWS, await names(app, "/movies?sort=year&limit=10"));
  await tab.until("tbody tr:nth-of-type(9) .MuiChip-label", ["Humphrey Bogart", "Ingrid Bergman"]);
  await tab.click("th ::-p-text(Name)");
  await tab.until(ROWS, await names(app, "/movies?sort=name&limit=10"));
  await tab.click("[aria-label='Go to next page']");
  await tab.until(ROWS, await names(app, "/movies?sort=name&limit=10&skip=10"));
  await tab.until(".MuiTablePagination-displayedRows", ["11-20 of 62"]);
  await tab.click("th ::-p-text(Name)");
  await tab.until(ROWS, await names(app, "/movies?sort=-name&limit=10"));
  await tab.fill("name", "the g");
  await tab.until(ROWS, ["The Great Dictator", "The Godfather", "The General"]);
  await tab.fill("since", "1940");
  await tab.until(ROWS, ["The Great Dictator", "The Godfather"]);
  assertEquals(admin.refusals(), []);
});

test("a list of actors has pages without a total, as its hook gives them", async () => {
  await using admin = await openAdmin();
  const tab = await admin.openTab("/actors");
  await tab.until(ROWS, await names(admin.app, "/actors?page=0"));
  await tab.click("[aria-label='Go to next page']");
  await tab.until(ROWS, await names(admin.app, "/actors?page=1"));
  await tab.fill("name", "HUM");
  await tab.until(ROWS, ["Humphrey Bogart"]);
  assertEquals(admin.refusals(), []);
});

test("references show names, in both directions", async () => {
  await using admin = await openAdmin();
  const tab = await admin.openTab("/movies");
  await tab.until("tbody tr:nth-of-type(9) .MuiChip-label", ["Humphrey Bogart", "Ingrid Bergman"]);
  await tab.click("tbody tr:nth-of-type(9) .MuiChip-root");
  await tab.until("[name=name]", ["Humphrey Bogart"]);
  await tab.until(ROWS, ["Casablanca", "The Big Sleep", "The African Queen"]);
  assertEquals(admin.refusals(), []);
});

test("a form saves what was changed, references included", async () => {
  await using admin = await openAdmin();
  const { app } = admin;
  const before = await find(app, "Metropolis");
  const tab = await admin.openTab("/movies");
  await tab.open("Metropolis");
  await tab.until(CHIPS, ["Brigitte Helm"]);
  await tab.fill("name", "Metropolis (restored)");
  await tab.type("[role=combobox]", "Lorre");
  await tab.click("[role=option] ::-p-text(Peter Lorre)");
  await tab.click(SAVE);
  await tab.until("tbody tr:nth-of-type(2) .column-name", ["Metropolis (restored)"]);
  await tab.until("tbody tr:nth-of-type(2) .MuiChip-label", ["Brigitte Helm", "Peter Lorre"]);
  const after = await find(app, "Metropolis (restored)");
  assertEquals([after?._id, after?.year, after?.description], [
    ...[before?._id, 1927, before?.description],
  ]);
  assertEquals(after?.actors.length, 2);
});

test("a new movie is created, and what it lacks stands at its fields", async () => {
  await using admin = await openAdmin();
  const tab = await admin.openTab("/movies/create");
  await tab.fill("name", "Safety Last!");
  await tab.click(SAVE);
  await tab.until(errorOf("description"), ["Path `description` is required."]);
  await tab.fill("description", "A clerk climbs up a house.");
  await tab.click(SAVE);
  await tab.until("[name=description]", ["A clerk climbs up a house."]);
  await tab.until(DELETE, ["DELETE"]);
  assertEquals((await find(admin.app, "Safety Last!"))?.actors, []);
  assertEquals(admin.refusals(), ["400"]);
});

test("errors stand at their fields, all of them at one time, and nothing is saved", async () => {
  await using admin = await openAdmin();
  const before = await find(admin.app, "M");
  const tab = await admin.openTab(`/movies/${before?._id}`);
  await tab.until("[name=name]", ["M"]);
  await tab.fill("year", "1800");
  await tab.fill("description", "");
  await tab.click(SAVE);
  await tab.until(errorOf("description"), ["Path `description` is required."]);
  await tab.until(errorOf("year"), [
    "Path `year` (1800) is less than minimum allowed value (1888).",
  ]);
  assertEquals(await find(admin.app, "M"), before);
  await tab.fill("year", "1932");
  await tab.fill("description", "A city hunts a man.");
  await tab.click(SAVE);
  await tab.until(TITLE, ["Movies"]);
  assertEquals((await find(admin.app, "M"))?.year, 1932);
  assertEquals(admin.refusals(), ["400"]);
});

test("of two tabs, the one that saves later is told, and neither loses anything", async () => {
  await using admin = await openAdmin();
  const { _id } = await find(admin.app, "Solaris") as Movie;
  const [one, two] = [await admin.openTab(`/movies/${_id}`), await admin.openTab(`/movies/${_id}`)];
  await two.until("[name=name]", ["Solaris"]);
  await one.page.bringToFront();
  await one.fill("name", "Solaris (1972)");
  await one.fill("description", "A psychologist sees his wife again.");
  await one.click(SAVE);
  await one.until(TITLE, ["Movies"]);
  const first = await find(admin.app, "Solaris (1972)");
  await two.page.bringToFront();
  await two.fill("name", "Solyaris");
  await two.fill("year", "1971");
  await two.click(SAVE);
  await two.until(MESSAGE, [CONFLICT]);
  await two.until(errorOf("name"), ["Stored now: Solaris (1972)"]);
  await two.until("[name=description]", ["A psychologist sees his wife again."]);
  await two.until("[name=name], [name=year]", ["Solyaris", "1971"]);
  assertEquals(await find(admin.app, "Solaris (1972)"), first);
  await two.click(SAVE);
  await two.until(TITLE, ["Movies"]);
  const { description, year } = await find(admin.app, "Solyaris") as Movie;
  assertEquals([description, year], ["A psychologist sees his wife again.", 1971]);
  assertEquals(admin.refusals(), ["412"]);
});

test("a movie is deleted, unless somebody has changed it meanwhile", async () => {
  await using admin = await openAdmin();
  const { app } = admin;
  const { _id } = await find(app, "Jaws") as Movie;
  const tab = await admin.openTab(`/movies/${_id}`);
  await tab.until("[name=name]", ["Jaws"]);
  const headers = { authorization: SECRET_KEY };
  await app.updated(`/movies/${_id}`, { name: "Jaws 1" }, { headers });
  await tab.click(DELETE);
  await tab.click(CONFIRM);
  await tab.until(MESSAGE, [CONFLICT]);
  await tab.until("[name=name]", ["Jaws 1"]);
  await tab.until(DIALOG, []);
  await tab.click(DELETE);
  await tab.click(CONFIRM);
  await tab.until(TITLE, ["Movies"]);
  assertEquals([await find(app, "Jaws"), await find(app, "Jaws 1")], [undefined, undefined]);
  assertEquals(admin.refusals(), ["412"]);
});

async function choosePoster(tab: Tab, { path }: MadeFile): Promise<void> {
  const chooser = tab.page.waitForFileChooser();
  await tab.click(".ra-input-poster .RaFileInput-dropZone");
  await (await chooser).accept([path]);
  await tab.page.waitForSelector(`.ra-input-poster img[src^="blob:"]`);
}

test("a poster is uploaded, shown and removed, and a refused one is told at its field", async () => {
  await using admin = await openAdmin();
  const { _id } = await find(admin.app, "M") as Movie;
  const poster = () => admin.app.read<{ poster?: FileJson }>(`/movies/${_id}`);
  const tab = await admin.openTab(`/movies/${_id}`);
  await using wrong = await makeFile("a.gif", new TextEncoder().encode("GIF89a"));
  await using right = await makeFile("a.png", PNG);
  await tab.fill("year", "1932");
  await choosePoster(tab, wrong);
  await tab.click(SAVE);
  await tab.until(errorOf("poster"), ["The file has none of the types image/png, image/jpeg"]);
  assertEquals((await find(admin.app, "M"))?.year, 1932);
  await choosePoster(tab, right);
  await tab.click(SAVE);
  await tab.until(TITLE, ["Movies"]);
  assertEquals((await poster()).poster?.name, "a.png");
  await tab.page.goto(`${admin.app.url}/admin#/movies/${_id}`);
  await tab.page.waitForSelector(`.ra-input-poster img[alt="a.png"]`);
  await tab.page.waitForFunction(`document.querySelector(".ra-input-poster img").naturalWidth > 0`);
  await tab.click(".ra-input-poster button");
  await tab.click(SAVE);
  await tab.until(TITLE, ["Movies"]);
  assertEquals((await poster()).poster, undefined);
  assertEquals(admin.refusals(), ["415"]);
});

test("what is done to all that are ticked is one request", async () => {
  await using admin = await openAdmin();
  const { app } = admin;
  const tab = await admin.openTab("/movies");
  const sent: string[] = [];
  tab.page.on("request", (request) => {
    if (request.method() !== "GET") sent.push(`${request.method()} ${request.headers().prefer}`);
  });
  const tickTwo = async () => {
    await tab.until(DIALOG, []);
    for (const row of [1, 2]) await tab.click(`tbody tr:nth-of-type(${row}) [type=checkbox]`);
    await tab.until(TICKED, ["on", "on"]);
  };
  const [first = "", second = "", third = ""] = await names(app, "/movies?sort=year&limit=3");
  await tab.until(ROWS, await names(app, "/movies?sort=year&limit=10"));
  await tickTwo();
  await tab.click("button ::-p-text(Forget the year)");
  await tab.click(CONFIRM);
  await tab.until(TICKED, []);
  assertEquals((await find(app, first))?.year, undefined);
  assertEquals((await find(app, second))?.year, undefined);
  assertEquals(typeof (await find(app, third))?.year, "number");
  await tickTwo();
  await tab.click(DELETE);
  await tab.click(CONFIRM);
  await tab.until(TICKED, []);
  assertEquals([await find(app, first), await find(app, second)], [undefined, undefined]);
  assertEquals(sent, ["PATCH max-affected=2", "DELETE max-affected=2"]);
  assertEquals(admin.refusals(), []);
});

test("a wrong key is asked for again, and nothing is saved", async () => {
  await using admin = await openAdmin();
  const before = await find(admin.app, "M");
  const tab = await admin.openTab(`/movies/${before?._id}`, "wrong");
  await tab.fill("year", "1999");
  await tab.click(SAVE);
  await tab.until("[name=key]", [""]);
  assertEquals(await find(admin.app, "M"), before);
  assertEquals(admin.refusals(), ["401"]);
});
