import { assertEquals } from "@std/assert";
import express, { type Express } from "express";
import mongoose from "mongoose";
import { admin } from "@mongrove/mongrove/admin";
import { action, all, arrayProp, create, Framework, FrameworkModel } from "@mongrove/mongrove";
import { getModel, one, prop, type Ref, remove, removeAll, rest } from "@mongrove/mongrove";
import { replace, RestError, StoredFile, update } from "@mongrove/mongrove";
import { test } from "../harness/testing.ts";
import { onlyStrict } from "../support/only_strict.ts";
import { type AdminBrowser, openAdminBrowser } from "./support/admin_tab.ts";
import type { Tab } from "./support/admin_page.ts";
import { findSerious } from "./support/axe.ts";

const SAVE = "form button[type=submit]";
const DIALOG = "[role=dialog]";
const MESSAGE = ".MuiSnackbar-root";
const PROBLEMS = ".Mui-error.MuiFormHelperText-root";
const button = (text: string) => `button ::-p-text(${text})`;

class Sender extends FrameworkModel {
  @prop({ required: true })
  street!: string;

  @prop()
  city?: string;
}

@rest({ route: "/bays", methods: [all({ page: { max: 50 } }), one(), create()] })
class Bay extends FrameworkModel {
  static override configure(schema: mongoose.Schema): void {
    schema.add({ _id: Number });
  }

  @prop({ required: true })
  name!: string;
}

const WORD = "word".repeat(80);
const refuse = (_req: unknown, parcel: { label?: string }) => {
  if (parcel.label !== "light") return parcel;
  const errors = { weight: { message: "It was not weighed", kind: "weight" } };
  throw new RestError(400, { code: "BAD_DATA", message: "Not valid", errors });
};
const many = ["pack", "weigh", "stamp", "insure", "announce", "collect"]
  .map((name) => action(name, { on: "all", run: () => {} }));

@rest({
  route: "/parcels",
  methods: [
    all({
      page: { max: 50 },
      search: ["label"],
      filter: ["_id", "price", "serial"],
      sort: ["label"],
    }),
    one(),
    update({ preSave: refuse as never }),
    removeAll({ max: 10 }),
    ...many,
  ],
})
class Parcel extends FrameworkModel {
  @prop({ required: true })
  label!: string;

  @prop({ type: Number, readonly: true })
  readonly weight?: number;

  @prop({ type: Date, dateOnly: true })
  due?: Date;

  @arrayProp({ items: Date, dateOnly: true })
  stops?: Date[];

  @prop({ type: mongoose.Schema.Types.Decimal128 })
  price?: mongoose.Types.Decimal128;

  @prop({ type: mongoose.Schema.Types.BigInt })
  serial?: bigint;

  @prop({ type: Sender })
  sender?: Sender;

  @prop({ ref: () => Bay })
  bay?: Ref<Bay>;

  @prop({ type: Number })
  id?: number;
}

@rest({ route: "/drivers", methods: [all({ page: { max: 50 } }), one(), update(), remove()] })
class Driver extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop()
  phone?: string;
}

class Shift extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop()
  note?: string;

  @rest({ ifMatch: true, methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 100_000 })
  plan?: StoredFile;
}

@rest({
  route: "/crews",
  ifMatch: true,
  trash: { see: () => true },
  methods: [all({ page: { max: 50 } }), one(), update(), remove()],
})
class Crew extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @rest({ ifMatch: true, methods: [all(), one(), update(), remove()] })
  @arrayProp({ items: Shift, embedded: true })
  shifts?: Shift[];

  @rest({ methods: [all(), one(), update()] })
  @arrayProp({ items: () => Driver })
  drivers?: Ref<Driver>[];
}

function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const models = [Parcel, Bay, Crew, Driver];
  const api = Framework.initialize({ models, strict: onlyStrict("bodies", "parameters") });
  app.use(api);
  app.use("/admin", admin(api, { title: "Depot" }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}

const DRIVER = "6b0c81bb1e7753872386c692";

async function seed(): Promise<void> {
  await getModel(Parcel).create(
    [
      {
        ...{ label: "first", due: "1980-05-04", price: "19.90", serial: 5n, id: 42 },
        sender: { street: "High", city: "Ghent" },
      },
      { label: WORD, price: "5", serial: 9007199254740993n },
    ] as never,
  );
  await getModel(Bay).create({ _id: 1, name: "North" } as never);
  await getModel(Driver).create({ _id: DRIVER, name: "Ann" } as never);
  await getModel(Crew).create(
    { name: "Early", drivers: [DRIVER], shifts: [{ title: "Noon" }] } as never,
  );
}

interface Depot extends AsyncDisposable {
  readonly admin: AdminBrowser;
  readonly tab: Tab;
  /** The bodies of the updates that the page has sent. */
  readonly bodies: readonly unknown[];
}

async function openDepot(place: string): Promise<Depot> {
  const admin = await openAdminBrowser({ buildApp, seed, path: "/admin/" });
  const tab = await admin.openTab(place);
  const bodies: unknown[] = [];
  tab.page.on("request", (request) => {
    if (request.method() === "PATCH") bodies.push(JSON.parse(request.postData() ?? ""));
  });
  const dispose = () => admin[Symbol.asyncDispose]();
  return { admin, tab, bodies, [Symbol.asyncDispose]: dispose };
}

async function openParcel(): Promise<Depot> {
  const depot = await openDepot("/parcels");
  await depot.tab.open("first");
  await depot.tab.until("[name=label]", ["first"]);
  await depot.tab.page.waitForNetworkIdle();
  return depot;
}

/** The parcel whose form `openParcel()` shows. */
async function findParcel(): Promise<Record<string, unknown>> {
  return await getModel(Parcel).collection.findOne({ id: 42 }) ?? {};
}

test("the keyboard opens an entity of a list, and its rows have names for screen readers", async () => {
  await using depot = await openDepot("/parcels");
  const { page } = depot.tab;
  await page.waitForSelector("tbody tr");
  const names = await page.$$eval(
    "tbody [type=checkbox]",
    (all) => all.map((each) => each.ariaLabel),
  );
  assertEquals(names, ["Select this row", "Select this row"]);
  assertEquals(await findSerious(page), []);
  await page.focus("tbody [type=checkbox]");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await depot.tab.until("[name=label]", ["first"]);
});

test("the error of a value within an input stands beside the input", async () => {
  await using depot = await openParcel();
  const { tab } = depot;
  await tab.type("[name=stops]", "2020-01-01\n2021-13-01");
  await tab.send(SAVE);
  await tab.until(PROBLEMS, [
    `Value at "stops.1" cannot be read as DateOnly: ` +
    "send a date without a time, such as 2026-01-31",
  ]);
});

test("an error of a field without an input is told, and does not hold the form back", async () => {
  await using depot = await openParcel();
  const { tab } = depot;
  await tab.fill("label", "light");
  await tab.send(SAVE);
  await tab.until(MESSAGE, ["Cannot save the parcel: It was not weighed"]);
  await tab.fill("label", "heavy");
  await tab.send(SAVE);
  await tab.page.waitForSelector(`${SAVE}:disabled`);
  assertEquals((await findParcel()).label, "heavy");
});

test("a day that does not exist is refused in the form, and clears nothing", async () => {
  await using depot = await openParcel();
  const { tab, bodies } = depot;
  await tab.type("[name=due]", "02291999");
  await tab.click(SAVE);
  await tab.until(PROBLEMS, ["This does not exist"]);
  await tab.type("[name=due]", "02292000");
  await tab.send(SAVE);
  assertEquals(bodies, [{ due: "2000-02-29" }]);
});

test("an optional object with a required field is cleared as a whole", async () => {
  await using depot = await openParcel();
  const { tab, bodies } = depot;
  await tab.fill("sender.street", " ");
  await tab.page.keyboard.press("Backspace");
  await tab.click(SAVE);
  await tab.until(PROBLEMS, ["Required"]);
  await tab.fill("sender.city", " ");
  await tab.page.keyboard.press("Backspace");
  await tab.send(SAVE);
  assertEquals(bodies, [{ sender: null }]);
  await tab.page.waitForSelector(`${SAVE}:disabled`);
  assertEquals((await findParcel()).sender, undefined);
});

test("a new entity with a number as its identifier is selected", async () => {
  await using depot = await openParcel();
  const { tab, bodies } = depot;
  await tab.click(`[aria-label="New bay"]`);
  await tab.type(`${DIALOG} [name=_id]`, "7");
  await tab.type(`${DIALOG} [name=name]`, "South");
  await tab.send(`${DIALOG} button[type=submit]`);
  await tab.page.waitForSelector(DIALOG, { hidden: true });
  await tab.until("[name=bay]", ["South"]);
  await tab.send(SAVE);
  assertEquals(bodies, [{ bay: 7 }]);
});

test("React-admin needs the name id, so the page leaves out a field with this name", async () => {
  await using depot = await openParcel();
  const { tab } = depot;
  assertEquals(await tab.page.$$("[name=id]"), []);
  await tab.fill("label", "second");
  await tab.send(SAVE);
  const { label, id } = await findParcel();
  assertEquals([label, id], ["second", 42]);
});

test("blanks are no search, and decimals and large integers have filters", async () => {
  await using depot = await openDepot("/parcels");
  const { tab } = depot;
  const title = "tbody .column-label";
  await tab.type("input[placeholder=Search]", " ");
  await tab.page.waitForNetworkIdle();
  await tab.until(title, ["first", WORD]);
  await tab.click(button("Add filter"));
  await tab.until(".MuiMenu-paper li", [
    ...["Price from", "Price to", "Serial from", "Serial to", "Remove all filters"],
  ]);
  await tab.click(".MuiMenu-paper ::-p-text(Price to)");
  await tab.type("[name='price:to']", "5.5");
  await tab.until(title, [WORD]);
});

test("a conflict about an entry of a table shows both versions", async () => {
  await using depot = await openDepot("/crews");
  const { admin: { app }, tab, bodies } = depot;
  await tab.open("Early");
  await tab.click(`section[aria-label=Drivers] ${button("Change")}`);
  await tab.type(`${DIALOG} [name=phone]`, "12");
  await app.patch(`/drivers/${DRIVER}`, { name: "Anna", phone: "34" });
  await tab.send(`${DIALOG} button[type=submit]`);
  await tab.until(`${DIALOG} tbody tr`, ["Phone\t\n34\n\t\n12"]);
  await tab.send(button("Keep mine"));
  await tab.until("section[aria-label=Drivers] tbody td:nth-child(-n+2)", ["Anna", "12"]);
  assertEquals(bodies, [{ phone: "12" }, { phone: "12" }]);
});

test("long words and many buttons make no page wider than its window", async () => {
  await using depot = await openDepot("/");
  const { page } = depot.tab;
  for (const width of [320, 1000]) {
    await page.setViewport({ width, height: 800 });
    for (const place of ["/", "/parcels"]) {
      await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
      await page.waitForSelector(place === "/" ? "h3" : "tbody tr, main li");
      const shown = await page.evaluate("document.documentElement.scrollWidth");
      assertEquals([place, shown], [place, width]);
    }
  }
});

const SHIFTS = "section[aria-label=Shifts]";
const SHIFT = `${SHIFTS} tbody td:nth-child(-n+2)`;

test("embedded entries are changed where If-Match is required, and a conflict is told", async () => {
  await using depot = await openDepot("/crews");
  const { admin: { app }, tab } = depot;
  const [crew] = await app.read<{ _id: string }[]>("/crews");
  const path = `/crews/${crew?._id}/shifts`;
  const [shift] = await app.read<{ _id: string }[]>(path);
  await tab.open("Early");
  await tab.click(`${SHIFTS} ${button("Change")}`);
  await tab.type(`${DIALOG} [name=note]`, "late");
  await tab.click(`${DIALOG} button[type=submit]`);
  await tab.until(SHIFT, ["Noon", "late"]);
  await tab.click(`${SHIFTS} ${button("Change")}`);
  await tab.replace(`${DIALOG} [name=note]`, "later");
  await app.patch(`${path}/${shift?._id}`, { note: "soon" }, { headers: { "if-match": "*" } });
  await tab.click(`${DIALOG} button[type=submit]`);
  await tab.until(`${DIALOG} tbody tr`, ["Note\t\nsoon\n\t\nlater"]);
  await tab.click(button("Keep mine"));
  await tab.until(SHIFT, ["Noon", "later"]);
});

test("where If-Match is required, the page removes, restores and stores files", async () => {
  await using depot = await openDepot("/crews");
  const { tab } = depot;
  await tab.open("Early");
  const chooser = tab.page.waitForFileChooser();
  await tab.click(`${SHIFTS} ${button("Upload")}`);
  await (await chooser).accept([new URL("../../LICENSE", import.meta.url).pathname]);
  await tab.page.waitForSelector(`${SHIFTS} a[download=LICENSE]`);
  await tab.click(`${SHIFTS} tbody td:last-child ${button("Remove")}`);
  await tab.click(`${DIALOG} .ra-confirm`);
  await tab.page.waitForSelector(`${SHIFTS} tbody`, { hidden: true });
  await tab.click(`main ${button("Remove")}`);
  await tab.send(`${DIALOG} .ra-confirm`);
  await tab.click(button("Trash"));
  await tab.click(`tbody ${button("Restore")}`);
  await tab.until(MESSAGE, ["Restored"]);
});

test("without a connection, a write is tried at once, so that its reader is told", async () => {
  await using depot = await openParcel();
  const { tab, bodies } = depot;
  await tab.page.evaluate(`dispatchEvent(new Event("offline"))`);
  await tab.fill("label", "late");
  await tab.send(SAVE);
  assertEquals(bodies, [{ label: "late" }]);
});
