import { assert, assertEquals } from "@std/assert";
import express, { type Express } from "express";
import mongoose, { type Schema } from "mongoose";
import { admin, type AdminModel } from "@mongrove/mongrove/admin";
import {
  all,
  arrayProp,
  create,
  type DateOnly,
  Framework,
  FrameworkModel,
  getModel,
} from "@mongrove/mongrove";
import { one, prop, type Ref, remove, replace, rest, StoredFile, update } from "@mongrove/mongrove";
import { test } from "../harness/testing.ts";
import { onlyStrict } from "../support/only_strict.ts";
import { type AdminBrowser, openAdminBrowser } from "./support/admin_tab.ts";
import type { Tab } from "./support/admin_page.ts";
import { findSerious } from "./support/axe.ts";
import { PNG } from "./support/made_files.ts";

const SAVE = "form button[type=submit]";
const DIALOG = "[role=dialog]";
const HEADS = "thead th[class*=column]";
const cells = (name: string) => `tbody .column-${name}`;

@rest({ route: "/doctors", methods: [all(), one(), update()] })
class Doctor extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ type: Date, dateOnly: true })
  born?: DateOnly;

  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 100_000, accept: ["image/png"], inline: true })
  photo?: StoredFile;
}

const LONG = "The patient tells of headaches. ".repeat(20).trim();
const STATES = ["planned", "checked_in", "done"];

@rest({
  route: "/visits",
  methods: [all({ page: { max: 50 }, sort: ["start"] }), one(), create(), update()],
  history: true,
})
class Visit extends FrameworkModel {
  @prop({ required: true })
  reason!: string;

  @prop({ type: Date })
  start?: Date;

  @prop({ enum: STATES })
  state?: string;

  @prop({ ref: () => Doctor })
  doctor?: Ref<Doctor>;

  @prop({ type: Number })
  fee?: number;

  @prop({ type: Number })
  share?: number;

  @prop({ type: Number })
  year?: number;

  @prop({ type: Number })
  steps?: number;

  @prop()
  report?: string;

  @arrayProp({ items: String })
  tags?: string[];

  @prop({ stamp: "createdBy" })
  readonly createdBy?: string;
}

class Line extends FrameworkModel {
  @prop({ required: true })
  text!: string;

  @prop({ type: Number })
  price?: number;
}

@rest({
  route: "/notes",
  trash: { see: () => true },
  methods: [all({ page: { max: 20 } }), one(), create(), remove()],
})
class Note extends FrameworkModel {
  static override configure(schema: Schema): void {
    schema.add({ _id: String });
  }

  @prop({ required: true })
  name!: string;

  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];

  @prop({ stamp: "createdBy" })
  readonly createdBy?: string;
}

const models = {
  Note: {
    list: ["name", "createdBy"],
    format: { "lines.price": { currency: "EUR" } },
  } satisfies AdminModel<Note>,
  Visit: {
    list: ["reason", "start", "state", "doctor", "fee", "share", "year", "steps", "report"],
    format: { fee: { currency: "EUR" }, share: "percent", year: "plain" },
  } satisfies AdminModel<Visit>,
};

function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({
    models: [Visit, Doctor, Note],
    strict: onlyStrict("bodies"),
    actor: () => "u17",
    actorNames: () => Promise.resolve(new Map([["u17", "Rose Tyler"]])),
  });
  app.use(api);
  app.use("/admin", admin(api, { title: "Clinic", models }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}

async function seed(): Promise<void> {
  const doctor = new mongoose.Types.ObjectId();
  await getModel(Doctor).create({ _id: doctor, name: "Dr. Who", born: "1980-05-04" } as never);
  await getModel(Visit).create({
    reason: "Headache",
    start: new Date("2026-05-04T13:05:30Z"),
    state: "checked_in",
    doctor,
    fee: 1234.5,
    share: 0.125,
    year: 2026,
    steps: 12345,
    report: LONG,
    tags: ["new", "private"],
  });
}

interface Clinic extends AsyncDisposable {
  readonly admin: AdminBrowser;
  readonly tab: Tab;
}

/** Opens a list in New York. */
async function openClinic(
  place: string,
  options: { readonly isPhone?: boolean } = {},
): Promise<Clinic> {
  const admin = await openAdminBrowser({ buildApp, seed, path: "/admin/" });
  const tab = await admin.openTab(place, options);
  await tab.page.emulateTimezone("America/New_York");
  await tab.page.reload();
  return { admin, tab, [Symbol.asyncDispose]: () => admin[Symbol.asyncDispose]() };
}

/** Returns the style of the first element that a selector finds. */
function styleOf({ page }: Tab, selector: string, property: string): Promise<string> {
  return page.evaluate(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)}))[${
      JSON.stringify(property)
    }]`,
  ) as Promise<string>;
}

test("values have the form of the reader: times, money, percent, years and labels", async () => {
  await using clinic = await openClinic("/visits");
  const { tab } = clinic;
  const shown: Record<string, string> = {
    start: "May 4, 2026, 9:05 AM",
    state: "Checked in",
    doctor: "Dr. Who",
    fee: "€1,234.50",
    share: "12.5%",
    year: "2026",
    steps: "12,345",
  };
  for (const [name, text] of Object.entries(shown)) await tab.until(cells(name), [text]);
  assertEquals(await styleOf(tab, cells("fee"), "textAlign"), "right");
  assertEquals(await styleOf(tab, cells("reason"), "textAlign"), "left");
  assertEquals(await findSerious(tab.page), []);
});

test("a long text is cut in its row, and whole on the page of its entity", async () => {
  await using clinic = await openClinic("/visits");
  const { tab } = clinic;
  const height = `${cells("report")} span`;
  await tab.page.waitForSelector(height);
  const row = await tab.page.$eval("tbody tr", (found) => found.clientHeight);
  assert(row < 80, `the row is ${row} pixels high`);
  await tab.open("Headache");
  await tab.until("[name=report]", [LONG]);
});

test("readers choose columns and their order, which the browser keeps", async () => {
  await using clinic = await openClinic("/visits");
  const { tab } = clinic;
  const first = ["Reason", "Start", "State", "Doctor", "Fee", "Share", "Year", "Steps", "Report"];
  await tab.until(HEADS, first);
  await tab.click("button ::-p-text(Columns)");
  await tab.click(`${DIALOG} label ::-p-text(Tags)`);
  await tab.click(`${DIALOG} label ::-p-text(Report)`);
  await tab.click(`${DIALOG} [aria-label="Move Tags up"]`);
  const chosen = [...first.slice(0, -2), "Tags", "Steps"];
  await tab.until(HEADS, chosen);
  assertEquals(await findSerious(tab.page), []);
  await tab.page.reload();
  await tab.until(HEADS, chosen);
  await tab.click("button ::-p-text(Columns)");
  await tab.click(`${DIALOG} button ::-p-text(Reset)`);
  await tab.until(HEADS, first);
});

test("the picture of an entity is shown in its row", async () => {
  await using clinic = await openClinic("/doctors");
  const { admin: { app }, tab } = clinic;
  const [doctor] = await app.read<{ _id: string }[]>("/doctors");
  const { status } = await fetch(`${app.url}/doctors/${doctor?._id}/photo`, {
    method: "PUT",
    headers: { "content-type": "image/png", "content-disposition": 'inline; filename="who.png"' },
    body: PNG,
  });
  assert(status < 300);
  await tab.page.reload();
  await tab.until(HEADS, ["Name", "Photo", "Born"]);
  const picture = await tab.page.waitForSelector(`${cells("photo")} img[alt="who.png"]`);
  assertEquals(await picture?.evaluate((found) => found.clientHeight), 40);
});

test("a day without a time is the same day in New York, in a list, a form and a filter", async () => {
  await using clinic = await openClinic("/doctors");
  const { tab } = clinic;
  await tab.until(cells("born"), ["May 4, 1980"]);
  const q = JSON.stringify({ born: { $lte: "1980-05-04" } });
  const asked = tab.page.waitForRequest((each) => new URL(each.url()).searchParams.get("q") === q);
  await tab.click("button.add-filter");
  await tab.click("[role=menuitemcheckbox] ::-p-text(Born to)");
  await tab.page.waitForSelector("[name='born:to']");
  await tab.page.focus("[name='born:to']");
  await tab.page.keyboard.type("05041980");
  await asked;
  await tab.open("Dr. Who");
  await tab.until("[name=born]", ["1980-05-04"]);
  await tab.page.focus("[name=born]");
  await tab.page.keyboard.type("06071981");
  const sent = tab.page.waitForRequest((each) => each.method() === "PATCH");
  await tab.send(SAVE);
  assertEquals((await sent).postData(), JSON.stringify({ born: "1981-06-07" }));
  assertEquals((await getModel(Doctor).findOne())?.born, new Date("1981-06-07") as never);
});

test("senders of writes are shown by name: on the page of an entity, in its history, in a list", async () => {
  await using clinic = await openClinic("/doctors");
  const { admin: { app }, tab } = clinic;
  await app.created("/visits", { reason: "Cough" });
  await tab.click("[role=menuitem] ::-p-text(Visits)");
  await tab.open("Cough");
  const details = "section[aria-label=Details]";
  await tab.until(`${details} dt:first-of-type, ${details} dd:first-of-type`, [
    ...["Created by", "Rose Tyler"],
  ]);
  await tab.click("section[aria-label=History] button ::-p-text(Show)");
  await tab.page.waitForSelector("section[aria-label=History] ::-p-text(created by Rose Tyler)");
  await tab.click("[role=menuitem] ::-p-text(Visits)");
  await tab.click("button ::-p-text(Columns)");
  await tab.click(`${DIALOG} label ::-p-text(Created by)`);
  await tab.until(cells("createdBy"), ["–", "Rose Tyler"]);
});

test("a phone shows the title, the label and the first fields of each entity", async () => {
  await using clinic = await openClinic("/visits", { isPhone: true });
  const { tab } = clinic;
  await tab.until("main .MuiListItem-root .MuiChip-root", ["Checked in"]);
  await tab.until("main .MuiListItemText-primary", ["Headache\nChecked in"]);
  assertEquals(await findSerious(tab.page), []);
});

/** An identifier with the characters that lists of identifiers use. */
const ODD = "a b,c";

test("a phone and the trash show senders by name, and an empty list tells of the trash", async () => {
  await using clinic = await openClinic("/notes", { isPhone: true });
  const { admin: { app }, tab } = clinic;
  await tab.until("main h2", ["There are no notes"]);
  await app.created("/notes", { _id: ODD, name: "Call back" });
  await tab.page.reload();
  await tab.until("main .MuiListItemText-secondary", ["Created by: Rose Tyler"]);
  await app.delete(`/notes/${encodeURIComponent(ODD)}`);
  await tab.page.reload();
  await tab.until("main h2 + p", ["Add one, or look in the trash."]);
  await tab.click("main button ::-p-text(Trash)");
  for (const label of ["Created by", "Deleted by"]) {
    await tab.page.waitForSelector(`main li ::-p-text(${label}: Rose Tyler)`);
  }
  await tab.click("main li button ::-p-text(Remove for good)");
  await tab.send(`${DIALOG} .ra-confirm`);
  await tab.page.waitForSelector("main ::-p-text(The trash is empty.)");
});

test("a list of objects is a table", async () => {
  await using clinic = await openClinic("/doctors");
  const { admin: { app }, tab } = clinic;
  const lines = [{ text: "Bandage", price: 4.5 }, { text: "Advice" }];
  await app.created("/notes", { _id: ODD, name: "Bill", lines });
  await tab.click("[role=menuitem] ::-p-text(Notes)");
  await tab.open("Bill");
  const table = "section[aria-label=Details] table";
  await tab.until(`${table} th`, ["Text", "Price"]);
  await tab.until(`${table} td`, ["Bandage", "€4.50", "Advice", "–"]);
});

test("inputs of numbers have their units, and store what they show", async () => {
  await using clinic = await openClinic("/visits");
  const { tab } = clinic;
  await tab.open("Headache");
  const unitOf = (name: string) => `.ra-input-${name} .MuiInputAdornment-root`;
  await tab.until(unitOf("fee"), ["€"]);
  await tab.until(unitOf("share"), ["= 12.5%"]);
  await tab.until(unitOf("year"), []);
  await tab.until("[name=fee], [name=share]", ["1234.5", "0.125"]);
  await tab.fill("share", "0.5");
  await tab.until(unitOf("share"), ["= 50%"]);
  const sent = tab.page.waitForRequest((each) => each.method() === "PATCH");
  await tab.send(SAVE);
  assertEquals((await sent).postData(), JSON.stringify({ share: 0.5 }));
});

test("the menu of a phone is closed when the page is loaded", async () => {
  await using clinic = await openClinic("/visits", { isPhone: true });
  const { tab } = clinic;
  await tab.page.waitForSelector("main .MuiListItem-root");
  await tab.click(".RaSidebarToggleButton-menuButtonIconClosed, header button");
  await tab.page.waitForSelector(".MuiDrawer-paper nav");
  await tab.page.reload();
  await tab.page.waitForSelector("main .MuiListItem-root");
  await tab.until(".MuiDrawer-paper nav", []);
});
