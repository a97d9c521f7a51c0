import { assertEquals } from "@std/assert";
import type { HTTPRequest } from "npm:puppeteer-core@25";
import { test } from "../harness/testing.ts";
import { type AdminBrowser, openSamples } from "./support/admin_tab.ts";
import type { Tab } from "./support/admin_page.ts";
import { findSerious } from "./support/axe.ts";
import { openDownloads } from "./support/downloads.ts";
import { makeFile, PNG } from "./support/made_files.ts";

const PICTURE = "section[aria-label=Picture]";
const ATTACHMENTS = "section[aria-label=Attachments]";
const DIALOG = "[role=dialog]";
const SAVE = "form button[type=submit]";
const CHANGED = "Cannot remove the file: The entity has changed since it was read. " +
  "The page shows what is stored now. Try again";
const RULES = "image/png or text/plain, up to 100 kB";
const button = (text: string, within: string) => `${within} button ::-p-text(${text})`;

interface Sample {
  readonly _id: string;
  readonly name: string;
  readonly picture?: { readonly name: string; readonly type: string };
  readonly attachments: readonly { readonly file?: { readonly name: string } }[];
}

/** Opens the page of a sample. */
async function openSample(admin: AdminBrowser): Promise<{ tab: Tab; path: string }> {
  const [sample] = await admin.app.read<Sample[]>("/office/samples?sort=name");
  const tab = await admin.openTab(`/samples/${sample?._id}`);
  await tab.until("[name=name]", ["Sample 01"]);
  return { tab, path: `/office/samples/${sample?._id}` };
}

/** Opens the selection of files by the keyboard, and chooses a file. */
async function choose(tab: Tab, selector: string, file: string): Promise<void> {
  const found = await tab.page.locator(selector).waitHandle();
  const chooser = tab.page.waitForFileChooser();
  await found.focus();
  await found.press("Enter");
  await (await chooser).accept([file]);
}

/** Has a function answer the uploads of a page. */
async function onUpload(tab: Tab, answer: (request: HTTPRequest) => unknown): Promise<void> {
  await tab.page.setRequestInterception(true);
  tab.page.on("request", (request) => {
    void (request.method() === "PUT" ? answer(request) : request.continue());
  });
}

/** The widths of the pictures that a page shows. */
function widthsOf({ page }: Tab, selector: string): Promise<number[]> {
  return page.$$eval(
    `${selector} img`,
    (found) => found.map((each) => (each as unknown as { naturalWidth: number }).naturalWidth),
  );
}

test("the file of an entity is stored, shown, saved, replaced and removed", async () => {
  await using admin = await openSamples();
  const { tab, path } = await openSample(admin);
  await using downloads = await openDownloads(tab.page);
  await tab.until(`${PICTURE} p`, ["No file"]);
  await tab.until(`${PICTURE} span.MuiTypography-caption`, [RULES]);
  const accept = await tab.page.$eval(`${PICTURE} input`, (each) => each.getAttribute("accept"));
  assertEquals(accept, "image/png,text/plain");
  await using picture = await makeFile("é & ü.png", PNG);
  await choose(tab, `${PICTURE} button`, picture.path);
  await tab.page.waitForSelector(`${PICTURE} img[alt="é & ü.png"]`);
  await tab.until(`${PICTURE} p`, [`é & ü.png image/png, ${PNG.length} bytes`]);
  await tab.page.waitForFunction(`document.querySelector("${PICTURE} img").naturalWidth === 1`);
  const { picture: stored } = await admin.app.read<Sample>(path);
  assertEquals([stored?.name, stored?.type], ["é & ü.png", "image/png"]);
  await tab.click(`${PICTURE} a`);
  assertEquals(await downloads.read("é & ü.png"), PNG);
  await using text = await makeFile("b.txt", new TextEncoder().encode("in the place of it"));
  await choose(tab, button("Replace", PICTURE), text.path);
  await tab.until(`${PICTURE} p`, ["b.txt text/plain, 18 bytes"]);
  assertEquals(await widthsOf(tab, PICTURE), []);
  await tab.click(button("Remove file", PICTURE));
  await tab.click(button("Remove file", DIALOG));
  await tab.until(`${PICTURE} p`, ["No file"]);
  assertEquals((await admin.app.read<Sample>(path)).picture, undefined);
  assertEquals(admin.refusals(), []);
});

test("the file of a part is stored and shown in its row", async () => {
  await using admin = await openSamples();
  const { tab, path } = await openSample(admin);
  for (const title of ["First", "Second"]) {
    await tab.click(button("Add", ATTACHMENTS));
    await tab.type(`${DIALOG} [name=title]`, title);
    await tab.click(`${DIALOG} button[type=submit]`);
    await tab.until(DIALOG, []);
  }
  await using picture = await makeFile("a.png", PNG);
  await choose(tab, `${ATTACHMENTS} tbody tr:nth-of-type(2) button`, picture.path);
  await tab.until(`${ATTACHMENTS} tbody a`, ["a.png"]);
  const { attachments } = await admin.app.read<Sample>(path);
  assertEquals(attachments.map(({ file }) => file?.name), [undefined, "a.png"]);
  // Without `inline`, the picture is not shown.
  await tab.page.waitForNetworkIdle();
  assertEquals(await widthsOf(tab, ATTACHMENTS), []);
  assertEquals(admin.refusals(), []);
});

test("the reason of a refused upload stands beside the file, and nothing is stored", async () => {
  await using admin = await openSamples();
  const { tab, path } = await openSample(admin);
  await using large = await makeFile("large.txt", new Uint8Array(100_001));
  await choose(tab, `${PICTURE} button`, large.path);
  await tab.until(`${PICTURE} [role=alert]`, ['"large.txt" is larger than 100 kB']);
  await using page = await makeFile("a.html", new TextEncoder().encode("<p>"));
  await choose(tab, `${PICTURE} button`, page.path);
  await tab.until(`${PICTURE} [role=alert]`, [
    "Cannot store the file: The file has none of the types image/png, text/plain",
  ]);
  await using picture = await makeFile("a.png", PNG);
  await admin.app.updated(path, { name: "Sample of another" });
  await choose(tab, `${PICTURE} button`, picture.path);
  await tab.until(`${PICTURE} [role=alert]`, [
    CHANGED.replace("remove", "store"),
  ]);
  await tab.until("[name=name]", ["Sample of another"]);
  assertEquals((await admin.app.read<Sample>(path)).picture, undefined);
  await choose(tab, `${PICTURE} button`, picture.path);
  await tab.until(`${PICTURE} a`, ["a.png"]);
  assertEquals(await tab.page.$(`${PICTURE} [role=alert]`), null);
  assertEquals(admin.refusals(), ["415", "412"]);
});

test("typed text stays while a file is stored, and does not replace the change of another", async () => {
  await using admin = await openSamples();
  const { tab, path } = await openSample(admin);
  await using picture = await makeFile("a.png", PNG);
  await tab.fill("name", "Typed");
  await choose(tab, `${PICTURE} button`, picture.path);
  await tab.until(`${PICTURE} a`, ["a.png"]);
  await tab.until("[name=name]", ["Typed"]);
  await tab.send(SAVE);
  await tab.page.waitForSelector(`${SAVE}:disabled`);
  assertEquals((await admin.app.read<Sample>(path)).name, "Typed");
  await tab.fill("name", "Typed again");
  await admin.app.updated(path, { name: "Other", size: 9 });
  await tab.click(button("Remove file", PICTURE));
  await tab.click(button("Remove file", DIALOG));
  await tab.until(`${PICTURE} [role=alert]`, [CHANGED]);
  await tab.until("[name=name], [name=size]", ["Typed again", "9"]);
  await tab.click(SAVE);
  await tab.until(`${DIALOG} tbody td`, ["Other", "Typed again"]);
  await tab.click(button("Take what is stored", DIALOG));
  await tab.until("[name=name]", ["Other"]);
  await tab.fill("name", "After it");
  await tab.send(SAVE);
  await tab.page.waitForSelector(`${SAVE}:disabled`);
  assertEquals((await admin.app.read<Sample>(path)).name, "After it");
  assertEquals(admin.refusals(), ["412"]);
});

test("a limit of a proxy is told, and a running upload can be stopped", async () => {
  await using admin = await openSamples();
  const { tab, path } = await openSample(admin);
  let answer = (request: HTTPRequest): unknown =>
    request.respond({ status: 413, contentType: "text/html", body: "<h1>Too large</h1>" });
  await onUpload(tab, (request) => answer(request));
  await using picture = await makeFile("a.png", PNG);
  await choose(tab, `${PICTURE} button`, picture.path);
  await tab.until(`${PICTURE} [role=alert]`, [
    "Cannot store the file: it is too large (HTTP_413)",
  ]);
  answer = () => {};
  await choose(tab, `${PICTURE} button`, picture.path);
  await tab.page.waitForSelector(`::-p-aria([role="progressbar"][name="Storing a.png"])`);
  assertEquals(await findSerious(tab.page), []);
  await tab.click(button("Stop", PICTURE));
  await tab.until(`${PICTURE} [role=alert]`, ["Stopped"]);
  assertEquals((await admin.app.read<Sample>(path)).picture, undefined);
});
