import { assertEquals, assertMatch } from "@std/assert";
import type { Page } from "npm:puppeteer-core@25";
import { getModel } from "@mongrove/mongrove";
import { longTest, test } from "../harness/testing.ts";
import { Price, Sample } from "./support/samples.ts";
import { type AdminBrowser, openDesk, openSamples, type TabOptions } from "./support/admin_tab.ts";
import type { Tab } from "./support/admin_page.ts";
import { findSerious } from "./support/axe.ts";
import { openDownloads } from "./support/downloads.ts";
import { PNG } from "./support/made_files.ts";

type Row = Readonly<Record<string, unknown>> & { readonly _id: string; readonly name: string };

const SAVE = "form button[type=submit]";
const DIALOG = "[role=dialog]";
const MESSAGE = ".MuiSnackbarContent-message";
const button = (text: string, within = "body") => `${within} button ::-p-text(${text})`;

async function find({ app }: AdminBrowser, name: string): Promise<Row | undefined> {
  return (await app.read<Row[]>("/office/samples")).find((each) => each.name === name);
}

async function choose(tab: Tab, field: string, option: string): Promise<void> {
  await tab.click(`.ra-input-${field} [role=combobox]`);
  await tab.click(`[role=option] ::-p-text(${option})`);
  await tab.until("[role=listbox]", []);
}

const TYPED: Readonly<Record<string, string>> = {
  name: "Everything",
  description: "A long\ntext",
  size: "7",
  big: "12345678901234567890".slice(0, 18),
  price: "9.99",
  token: "6f1c2a9b-1e8a-4d00-8a4d-001000000001",
  bytes: "aGVsbG8=",
  plain: "6a5f1c2a9b1e8a0012a4d001",
  free: `{"any":[1,null]}`,
  scores: `{"a":1}`,
  tags: "one\ntwo words",
  marks: "1\n2.5",
  "home.street": "High Street",
};

/** The values that are stored for the typed texts and the chosen options. */
const STORED = {
  name: "Everything",
  description: "A long\ntext",
  color: "blue",
  size: 7,
  isOpen: false,
  isKnown: true,
  big: "123456789012345678",
  price: "9.99",
  token: TYPED.token,
  bytes: "aGVsbG8=",
  plain: TYPED.plain,
  free: { any: [1, null] },
  scores: { a: 1 },
  tags: ["one", "two words"],
  marks: [1, 2.5],
};

test("a form has an input for every type, and stores what is typed", async () => {
  await using admin = await openSamples();
  const tab = await admin.openTab("/samples/create");
  for (const [field, text] of Object.entries(TYPED)) await tab.type(`[name="${field}"]`, text);
  await choose(tab, "color", "Blue");
  await choose(tab, "isKnown", "Yes");
  await choose(tab, "friend", "Bob");
  await choose(tab, "friends", "Cid");
  await tab.page.$eval("[name=day]", (input) => input.scrollIntoView());
  await tab.page.type("[name=day]", "01022026");
  await tab.page.keyboard.press("Tab");
  await tab.page.keyboard.type("0304PM");
  await tab.click(".ra-input-addresses button");
  await tab.type("[name='addresses.0.street']", "Low Street");
  await tab.click(SAVE);
  await tab.until("#react-admin-title", ["Everything"]);
  const found: Partial<Row> = await find(admin, "Everything") ?? {};
  const { _id, __v, friend, friends, addresses, day, home, attachments, ...stored } = found;
  assertEquals<unknown>(stored, STORED);
  assertEquals(attachments, []);
  assertEquals((home as Row).street, "High Street");
  assertMatch(String(day), /^2026-01-0/);
  assertEquals([typeof friend, (friends as unknown[]).length], ["string", 1]);
  assertEquals((addresses as Row[]).map(({ street }) => street), ["Low Street"]);
});

test("a form sends what was changed, and no more", async () => {
  await using admin = await openSamples();
  const { _id } = await find(admin, "Sample 03") ?? { _id: "" };
  const tab = await admin.openTab(`/samples/${_id}`);
  const bodies: unknown[] = [];
  tab.page.on("request", (request) => {
    if (request.method() === "PATCH") bodies.push(JSON.parse(request.postData() ?? ""));
  });
  await tab.until("[name=name]", ["Sample 03"]);
  await tab.fill("size", "99");
  await tab.click(SAVE);
  await tab.until(".ra-input-size p", ["Must be 10 or less"]);
  await tab.fill("size", "9");
  await tab.fill("name", "x");
  await tab.click(SAVE);
  await tab.until(MESSAGE, ["Cannot save the sample: see the messages at the fields"]);
  assertMatch(
    (await tab.page.$eval(".ra-input-name p", (text) => text.textContent)) ?? "",
    /length/,
  );
  await tab.fill("name", "Sample three");
  await tab.click(SAVE);
  await tab.until(MESSAGE, ["Saved"]);
  assertEquals(bodies, [{ name: "x", size: 9 }, { name: "Sample three", size: 9 }]);
  assertEquals(admin.refusals(), ["400"]);
});

async function seedPrice(): Promise<void> {
  await getModel(Price).init();
  await getModel(Price).create({ sku: "a/1", amount: 5, note: "old" });
}

test("a form of a model without update() replaces the entity", async () => {
  await using admin = await openSamples(seedPrice);
  const tab = await admin.openTab("/prices");
  const sent: string[] = [];
  tab.page.on("request", (request) => {
    if (request.method() === "PUT") sent.push(request.headers()["if-match"]?.slice(0, 2) ?? "");
  });
  const stored = async () => (await admin.app.read<Row[]>("/office/prices"))[0];
  await tab.open("a/1");
  await tab.fill("amount", "7");
  await tab.replace("[name=note]", " ");
  await tab.page.keyboard.press("Backspace");
  await tab.send(SAVE);
  await tab.page.waitForSelector(`${SAVE}:disabled`);
  assertEquals(Object.keys(await stored() ?? {}), ["_id", "sku", "amount", "__v"]);
  await admin.app.put("/office/prices/a%2F1", { sku: "a/1", amount: 8 });
  await tab.fill("amount", "9");
  await tab.click(SAVE);
  await tab.until(`${DIALOG} tbody td`, ["8", "9"]);
  await tab.send(button("Keep mine", DIALOG));
  assertEquals((await stored())?.amount, 9);
  assertEquals(sent, ['"0', '"1', '"2']);
});

test("ticked entities are changed and removed by one request each", async () => {
  await using admin = await openSamples();
  const tab = await admin.openTab("/samples");
  const sent: string[] = [];
  tab.page.on("request", (request) => {
    if (request.method() !== "GET") sent.push(`${request.method()} ${request.headers().prefer}`);
  });
  const tick = async () => {
    for (const row of [1, 2]) await tab.click(`tbody tr:nth-of-type(${row}) [type=checkbox]`);
  };
  await tick();
  await tab.click(button("Change"));
  await choose(tab, "color", "Green");
  await tab.click(`${DIALOG} button[type=submit]`);
  await tab.until("tbody tr:nth-of-type(-n+3) .column-color", ["Green", "Green", "Red"]);
  await tick();
  await tab.click(button("Remove"));
  await tab.click(button("Remove", DIALOG));
  await tab.until("tbody tr:nth-of-type(1) .column-name", ["Sample 03"]);
  assertEquals(sent, ["PATCH max-affected=2", "DELETE max-affected=2"]);
});

test("a live list shows what others add, and an action on all takes a body", async () => {
  await using admin = await openSamples();
  const tab = await admin.openTab("/samples");
  await tab.until(".MuiTablePagination-displayedRows", ["1-12 of 12"]);
  await tab.click("input[role=switch]");
  await tab.page.waitForNetworkIdle({ concurrency: 1 });
  await admin.app.created("/office/samples", { name: "From elsewhere" });
  await tab.until(".MuiTablePagination-displayedRows", ["1-13 of 13"]);
  await tab.click(button("Touch"));
  await tab.type("[name=times]", "3");
  await tab.click(`${DIALOG} button[type=submit]`);
  await tab.until(`${DIALOG} dd`, ["3"]);
});

test("a list is saved as a table, with the search and the order of the page, page by page", async () => {
  const seed = async () => {
    const names = Array.from({ length: 60 }, (_, n) => `${n < 55 ? "Part" : "Whole"} ${n + 10}`);
    await getModel(Sample).insertMany(names.map((name) => ({ name })));
  };
  await using admin = await openSamples(seed);
  const tab = await admin.openTab("/samples");
  await using downloads = await openDownloads(tab.page);
  await tab.type("input[placeholder=Search]", "Part");
  await tab.until(".MuiTablePagination-displayedRows", ["1-25 of 55"]);
  await tab.click("th ::-p-text(Name)");
  await tab.click("th ::-p-text(Name)");
  await tab.until("tbody tr:nth-of-type(1) .column-name", ["Part 64"]);
  await tab.click(button("Save as CSV"));
  const [head, ...rows] = new TextDecoder().decode(await downloads.read("samples.csv"))
    .trim().split(/\r?\n/);
  const names = rows.map((row) => row.split(",")[head?.split(",").indexOf("name") ?? 0]);
  assertEquals(names, Array.from({ length: 55 }, (_, n) => `Part ${64 - n}`));
  assertEquals(admin.refusals(), []);
});

test("an empty list says what to do, and a failed request says what failed", async () => {
  await using admin = await openSamples(() => Promise.resolve());
  const tab = await admin.openTab("/samples");
  await tab.until("#main-content h2", ["There are no samples"]);
  await tab.until("#main-content a", ["Add"]);
  await tab.page.setRequestInterception(true);
  tab.page.on("request", (request) => {
    const isList = new URL(request.url()).pathname === "/office/friends";
    void (isList ? request.respond({ status: 500, body: "{}" }) : request.continue());
  });
  await tab.click("[role=menuitem] ::-p-text(Friends)");
  await tab.until("#main-content [role=alert]", [
    "Cannot load friends: the server failed (HTTP_500)",
  ]);
});

/** Whether nothing on the page moves or loads. While a dialog fades in, its colours have no contrast. */
const SETTLED = `document.querySelector("[role=progressbar]") === null &&
  document.getAnimations().every(({ playState }) => playState === "finished")`;

/** Returns the serious findings of axe, when the page has settled. */
async function findingsOn(page: Page): Promise<string[]> {
  await page.waitForFunction(SETTLED);
  return await findSerious(page);
}

for (const colors of ["light", "dark"] as const) {
  for (const isPhone of [false, true]) {
    // The short form has each colour and each width once.
    const register = isPhone === (colors === "dark") ? test : longTest;
    register(
      `axe finds nothing serious, ${colors}, on a ${isPhone ? "phone" : "desktop"}`,
      async () => {
        await checkDesk({ colors, isPhone });
        await checkForm({ colors, isPhone });
      },
    );
  }
}

async function checkDesk(options: TabOptions): Promise<void> {
  await using desk = await openDesk();
  const login = await desk.openTab("/tickets", options);
  await login.until("h1", ["Sign in to Help desk"]);
  assertEquals(await findingsOn(login.page), [], "login");
  const home = await desk.openTab("/", { user: "ada", ...options });
  await home.until(".total", ["2"]);
  assertEquals(await findingsOn(home.page), [], "home");
  await home.click("button[aria-keyshortcuts]");
  await home.type(`${DIALOG} [role=combobox]`, "printer");
  await home.until(`${DIALOG} [role=option]`, ["Printer on fire"]);
  assertEquals(await findingsOn(home.page), [], "palette");
  const list = await desk.openTab("/tickets", { user: "ada", ...options });
  await list.page.waitForSelector("::-p-text(Printer on fire)");
  assertEquals(await findingsOn(list.page), [], "list");
  await list.click("::-p-text(Printer on fire)");
  await list.click(button("Show", "section[aria-label=History]"));
  await list.until("section[aria-label=History] p", ["There are no records."]);
  assertEquals(await findingsOn(list.page), [], "form");
  await list.click(button("Assign"));
  await list.page.waitForSelector("[name=agent]");
  assertEquals(await findingsOn(list.page), [], "dialog");
}

async function checkForm(options: TabOptions): Promise<void> {
  await using samples = await openSamples();
  const create = await samples.openTab("/samples/create", options);
  await create.page.waitForSelector("[name=name]");
  await create.click(SAVE);
  await create.until(".ra-input-name p", ["Required"]);
  assertEquals(await findingsOn(create.page), [], "create");
  await create.click("[aria-label='New friend']");
  await create.type(`${DIALOG} [name=name]`, "Dan");
  assertEquals(await findingsOn(create.page), [], "new reference");
  await create.click(button("Cancel", DIALOG));
  await create.until(DIALOG, []);
  await create.type("[name=name]", "Not saved");
  await create.click("button[aria-keyshortcuts]");
  await create.click(`${DIALOG} [role=option] ::-p-text(Friends)`);
  await create.until(`${DIALOG} h2`, ["Leave without saving?"]);
  assertEquals(await findingsOn(create.page), [], "question");
  const { _id } = await find(samples, "Sample 01") ?? { _id: "" };
  const init = { method: "PUT", headers: { "content-type": "image/png" }, body: PNG };
  await fetch(`${samples.app.url}/office/samples/${_id}/picture`, init);
  const edit = await samples.openTab(`/samples/${_id}`, options);
  await edit.page.waitForSelector("section[aria-label=Picture] img");
  assertEquals(await findingsOn(edit.page), [], "files");
}

test("a screen reader finds the parts of a page by their roles and names", async () => {
  await using admin = await openDesk();
  const tab = await admin.openTab("/tickets", { user: "ada" });
  await tab.click("tbody .column-title ::-p-text(Printer on fire)");
  await tab.until("[name=title]", ["Printer on fire"]);
  for (
    const name of [
      "button/Close",
      "button/Remove",
      "textbox/Title",
      "combobox/Organisation",
      "region/Comments",
      "region/History",
      "button/Save",
      "main",
    ]
  ) {
    const [role, label] = name.split("/");
    const selector = label === undefined
      ? `::-p-aria([role="${role}"])`
      : `::-p-aria([name="${label}"][role="${role}"])`;
    await tab.page.waitForSelector(selector, { timeout: 10_000 }).catch(() => {
      throw new Error(`Nothing has the role and the name ${name}`);
    });
  }
});
