import { assertEquals, assertMatch } from "@std/assert";
import { getModel } from "@mongrove/mongrove";
import type { HTTPRequest } from "npm:puppeteer-core@25";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { type AdminBrowser, openAdminBrowser } from "./support/admin_tab.ts";
import { wantsPicture } from "./support/picture.ts";
import type { Tab } from "./support/admin_page.ts";
import { buildClinic, Patient, seedClinic, Visit, Ward } from "./support/clinic_app.ts";

const DIALOG = "[role=dialog]";
const FIND = "button[aria-keyshortcuts]";
const SAVE = "form button[type=submit]";
const TITLE = "#react-admin-title";
const button = (text: string, within = "body") => `${within} button ::-p-text(${text})`;

/** The picture of the first page in the documentation. */
const PICTURE = new URL("../../docs/admin_home.png", import.meta.url);

let opened: Promise<AdminBrowser> | undefined;

/** The clinic of all tests of this file, which each name entities of their own. */
function clinic(): Promise<AdminBrowser> {
  return opened ??= openAdminBrowser({ buildApp: buildClinic, seed: seedClinic, path: "/admin/" });
}

Deno.test.afterAll(async () => await (await opened)?.[Symbol.asyncDispose]());

/** Registers a test of the clinic, which has its database before the test begins. */
function clinicTest(name: string, run: (admin: AdminBrowser) => Promise<void>): void {
  test(name, async () => await run(await clinic()));
}

/** Opens the palette by its key. */
async function openPalette({ page }: Tab): Promise<void> {
  await page.waitForSelector(FIND);
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await page.waitForSelector(`${DIALOG} [role=combobox]`);
}

clinicTest(
  "the first page has what the reader may do, totals that follow the list, and what changed last",
  async (admin) => {
    const tab = await admin.openTab("/");
    const practice = "section[aria-label=Practice]";
    await tab.until(`${practice} h3`, ["Patients", "Visits"]);
    await tab.until("section[aria-label=Models] h3", ["Wards", "Zebras"]);
    await tab.until(`${practice} button, ${practice} a[href$=create]`, ["New patient", "Recall"]);
    await tab.until(".total", [String(await getModel(Patient).countDocuments())]);
    await tab.until("section[aria-label=Links] a", ["Documentation"]);
    await tab.page.waitForSelector("section[aria-label='Changed last'] li ::-p-text(Ann Lee)");
    if (wantsPicture) {
      await tab.page.setViewport({ width: 1000, height: 600 });
      await tab.page.screenshot({ path: PICTURE.pathname as `${string}.png` });
    }
    await admin.app.created("/patients", { name: "Newly here" });
    await tab.until(".total", [String(await getModel(Patient).countDocuments())]);
    await tab.click(button("Recall"));
    await tab.click(`${DIALOG} button[type=submit]`);
    await tab.until(`${DIALOG} dd`, ["2"]);
    await tab.click(button("Close", DIALOG));
    await tab.click(`${practice} a[href$=create]`);
    await tab.until(TITLE, ["New patient"]);
  },
);

clinicTest(
  "a hidden tab follows nothing, and shows what changed when it is seen",
  async (admin) => {
    const tab = await admin.openTab("/");
    const shown = async () =>
      await tab.until(".total", [String(await getModel(Patient).countDocuments())]);
    const become = (state: "hidden" | "visible") =>
      tab.page.evaluate(`Object.defineProperty(document, "visibilityState",
      { value: "${state}", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"))`);
    await shown();
    const begun: string[] = [];
    const ended: string[] = [];
    const pathOf = (request: HTTPRequest) => new URL(request.url()).pathname;
    tab.page.on("request", (request) => begun.push(pathOf(request)));
    tab.page.on("requestfailed", (request) => ended.push(pathOf(request)));
    await become("hidden");
    await until(() => ended.includes("/patients"));
    await admin.app.created("/patients", { name: "Unseen" });
    assertEquals(begun, []);
    await become("visible");
    await shown();
  },
);

clinicTest(
  "the menu has groups, icons by the names of models, and else a letter",
  async (admin) => {
    const tab = await admin.openTab("/");
    await tab.until("nav h2", ["Practice"]);
    await tab.until("nav [role=menuitem]", ["Home", "Patients", "Visits", "Wards", "Z\n\nZebras"]);
    assertEquals((await tab.page.$$("nav [role=menuitem] svg")).length, 4);
  },
);

clinicTest(
  "the palette finds pages, entities and what can be done, by the keyboard alone",
  async (admin) => {
    const names = Array.from({ length: 7 }, (_, at) => `Palette ${at}`);
    await getModel(Patient).create(names.map((name) => ({ name })));
    const tab = await admin.openTab("/wards");
    await openPalette(tab);
    const options = `${DIALOG} [role=option]`;
    await tab.until(`${options}[aria-selected=true]`, ["Home"]);
    await tab.page.keyboard.type("palet");
    await tab.until(options, names.slice(0, 5));
    await tab.page.keyboard.press("ArrowDown");
    await tab.until(`${options}[aria-selected=true]`, ["Palette 1"]);
    const active = `document.getElementById(document.activeElement
    .getAttribute("aria-activedescendant")).textContent`;
    assertEquals(await tab.page.evaluate(active), "Palette 1");
    await tab.page.keyboard.press("Enter");
    await tab.until("[name=name]", ["Palette 1"]);
    await openPalette(tab);
    await tab.page.keyboard.type("nothing at all");
    await tab.until(`${DIALOG} [role=status]`, [`Nothing is found for "nothing at all"`]);
    await tab.page.keyboard.press("Escape");
    await tab.until(DIALOG, []);
    await tab.click(FIND);
    await tab.type(`${DIALOG} [role=combobox]`, "w");
    await tab.until(options, ["Wards", "New ward"]);
    await tab.page.keyboard.press("Backspace");
    await tab.page.keyboard.type("new ward");
    await tab.until(options, ["New ward"]);
    await tab.page.keyboard.press("Enter");
    await tab.until(TITLE, ["New ward"]);
  },
);

clinicTest("a reference is created in its picker, and is selected", async (admin) => {
  const tab = await admin.openTab("/patients/create");
  await tab.type("[name=name]", "Picked");
  for (const [input, name] of [["ward", "East"], ["earlier", "West"]]) {
    await tab.click(
      `.MuiBox-root:has(> .MuiBox-root .ra-input-${input}) > [aria-label="New ward"]`,
    );
    await tab.type(`${DIALOG} [name=name]`, name ?? "");
    await tab.send(`${DIALOG} button[type=submit]`);
    await tab.until(DIALOG, []);
  }
  await tab.until(".ra-input-earlier .MuiChip-label", ["West"]);
  await tab.until("input[name=ward], .ra-input-ward input", ["East"]);
  await tab.send("main form button[type=submit]");
  const [east, west] = await Promise.all(
    ["East", "West"].map((name) => getModel(Ward).findOne({ name }).orFail()),
  );
  const { ward, earlier } = await getModel(Patient).findOne({ name: "Picked" }).orFail();
  assertEquals([ward, earlier?.[0]].map(String), [east?._id, west?._id].map(String));
});

clinicTest("parts of parts are tables, which add and change", async (admin) => {
  await getModel(Visit).create({ reason: "Rash", remarks: [{ text: "Red" }] });
  const tab = await admin.openTab("/visits");
  await tab.open("Rash");
  await tab.click(button("Replies", "section[aria-label=Remarks]"));
  const replies = "section[aria-label=Replies]";
  await tab.click(button("Add", replies));
  await tab.type(`${DIALOG} [name=words]`, "Since June");
  await tab.send(`${DIALOG} button[type=submit]`);
  await tab.until(`${replies} tbody td:first-child`, ["Since June"]);
  await tab.click(button("Change", replies));
  await tab.fill("words", "Since July");
  await tab.send(`${DIALOG} button[type=submit]`);
  await tab.until(`${replies} tbody td:first-child`, ["Since July"]);
  const { remarks } = await getModel(Visit).findOne({ reason: "Rash" }).orFail();
  assertEquals(remarks?.[0]?.replies?.map(({ words }) => words), ["Since July"]);
});

clinicTest(
  "a form asks before its changes are lost, and not after they are saved",
  async (admin) => {
    const { _id } = await getModel(Patient).create({ name: "Leaving" });
    const tab = await admin.openTab(`/patients/${_id}`);
    const leave = () => tab.click("nav [role=menuitem] ::-p-text(Wards)");
    await tab.until("[name=name]", ["Leaving"]);
    await tab.fill("name", "Left");
    await leave();
    await tab.until(`${DIALOG} h2`, ["Leave without saving?"]);
    await tab.click(button("Stay", DIALOG));
    await tab.until(DIALOG, []);
    await tab.until("[name=name]", ["Left"]);
    const asked = new Promise<string>((resolve) =>
      tab.page.once("dialog", (dialog) => {
        resolve(dialog.type());
        void dialog.dismiss();
      })
    );
    await tab.page.evaluate("void setTimeout(() => location.reload())");
    assertEquals(await asked, "beforeunload");
    await tab.send(SAVE);
    await tab.page.waitForSelector(`${SAVE}:disabled`);
    await leave();
    await tab.until(TITLE, ["Wards"]);
    await tab.page.goBack();
    await tab.fill("name", "Lost");
    await leave();
    await tab.click(button("Leave", DIALOG));
    await tab.until(TITLE, ["Wards"]);
    assertEquals((await getModel(Patient).findById(_id).orFail()).name, "Left");
  },
);

clinicTest(
  "a typed address shows what its reader may only see, and says what is missing",
  async (admin) => {
    const { _id } = await getModel(Visit).create({ reason: "Cold" });
    const tab = await admin.openTab(`/visits/${_id}`);
    await tab.until(TITLE, ["Cold"]);
    await tab.until("main form", []);
    const { app, refusals } = admin;
    const before = refusals().length;
    const go = (place: string) => tab.page.goto(`${app.url}/admin/#${place}`);
    await go("/patients/6a5f1c2a9b1e8a0012a4d0ff");
    await tab.until("[role=alert] h2", ["This patient is not here"]);
    await tab.click("[role=alert] a");
    await tab.until(TITLE, ["Patients"]);
    await go("/nowhere");
    await tab.until("[role=alert] h2", ["There is no such page"]);
    await go(`/patients/${(await getModel(Patient).create({ name: "Shown" }))._id}/show`);
    await tab.until(TITLE, ["Shown"]);
    assertEquals(refusals().slice(before), ["404"]);
  },
);

clinicTest("a list without a total knows its end, on a desktop and on a phone", async (admin) => {
  await getModel(Visit).create([{ reason: "Ended one" }, { reason: "Ended two" }]);
  const filter = encodeURIComponent(JSON.stringify({ $search: "Ended" }));
  for (const isPhone of [false, true]) {
    const tab = await admin.openTab(`/visits?filter=${filter}`, { isPhone });
    await tab.until(".MuiTablePagination-displayedRows", ["1-2 of 2"]);
    await tab.until(".MuiTablePagination-actions button:enabled", []);
  }
});

clinicTest("a value that another entity has is told at its field", async (admin) => {
  await getModel(Ward).create({ name: "Taken" });
  const tab = await admin.openTab("/wards/create");
  await tab.type("[name=name]", "Taken");
  await tab.send(SAVE);
  await tab.until(".MuiFormHelperText-root.Mui-error", ["Already taken"]);
  await tab.type("[name=name]", " not");
  await tab.send(SAVE);
  await tab.until(TITLE, ["Taken not"]);
});

clinicTest(
  "a session is ended by its reader or the server, and each end leads to the sign-in",
  async (admin) => {
    const tab = await admin.openTab("/");
    const signIn = (within: string) => tab.click(`${within} a[href="../sign-in"]`);
    const open = () => tab.page.goto(`${admin.app.url}/admin/#/wards`);
    const end = () => tab.page.evaluate("document.cookie = 'ended=1;path=/'");
    await tab.click("[aria-label=Profile]");
    await tab.click("[role=menuitem] ::-p-text(Sign out)");
    await tab.until("h1", ["Sign in here"]);
    await end();
    await open();
    await signIn("main[role=alert]");
    await tab.until("h1", ["Sign in here"]);
    await open();
    await tab.page.waitForSelector("tbody tr");
    await end();
    await tab.click("nav [role=menuitem] ::-p-text(Patients)");
    await signIn(".MuiAlert-root");
    await tab.until("h1", ["Sign in here"]);
  },
);

clinicTest("an action is offered while it is available", async (admin) => {
  const ward = await getModel(Ward).create({ name: "Exit" });
  const { _id } = await getModel(Patient).create({ name: "Going", ward: ward._id });
  const tab = await admin.openTab(`/patients/${_id}`);
  await tab.click(button("Discharge"));
  await tab.send(`${DIALOG} button[type=submit]`);
  await tab.until(DIALOG, []);
  await tab.page.waitForFunction("!document.body.innerText.includes('Discharge')");
  assertEquals((await getModel(Patient).findById(_id).orFail()).ward, undefined);
  await tab.until("[name=name]", ["Going"]);
});

clinicTest("a trash whose reader may not restore says so", async (admin) => {
  const { _id } = await getModel(Visit).create({ reason: "Removed" });
  await admin.app.delete(`/visits/${_id}`);
  const tab = await admin.openTab("/visits");
  await tab.click(button("Trash"));
  await tab.page.waitForSelector("tbody ::-p-text(You may not restore this)");
});

clinicTest(
  "the colours are those of the system, until the reader chooses others",
  async (admin) => {
    const tab = await admin.openTab("/", { colors: "dark" });
    const color = () => tab.page.evaluate("getComputedStyle(document.body).colorScheme");
    await tab.page.waitForFunction("getComputedStyle(document.body).colorScheme === 'dark'");
    await tab.click("button[aria-label*=light], button[aria-label*=Toggle]");
    await tab.page.waitForFunction("getComputedStyle(document.body).colorScheme === 'light'");
    await tab.page.reload();
    await tab.page.waitForSelector("nav");
    assertMatch(String(await color()), /light/);
  },
);
