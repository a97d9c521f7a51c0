import { assertEquals } from "@std/assert";
import express, { type Express } from "express";
import mongoose from "mongoose";
import { admin } from "@mongrove/mongrove/admin";
import { all, arrayProp, Framework, FrameworkModel, getModel, one } from "@mongrove/mongrove";
import { prop, type Ref, remove, rest, update, updateAll } from "@mongrove/mongrove";
import { test } from "../harness/testing.ts";
import { type AdminBrowser, openAdminBrowser } from "./support/admin_tab.ts";
import type { Tab } from "./support/admin_page.ts";
import { onlyStrict } from "../support/only_strict.ts";

const SAVE = "form button[type=submit]";
const DIALOG = "[role=dialog]";

/** The list of boxes asks for Zoe, whom the reader may not see. */
const ZOE = "404";

@rest({ route: "/shop/friends", scope: () => ({ name: { $ne: "Zoe" } }), methods: [all(), one()] })
class Friend extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

class Home extends FrameworkModel {
  @prop({ required: true })
  street!: string;

  @prop()
  city?: string;
}

class Item extends FrameworkModel {
  @prop()
  title?: string;

  @prop()
  note?: string;

  @prop({ type: Number, default: 5 })
  level?: number;

  @prop({ type: Number, hidden: true, readonly: true })
  cost?: number;

  @prop({ required: true, hidden: true })
  key!: string;

  @prop({ type: Home })
  home?: Home;

  @arrayProp({ items: Number })
  marks?: number[];
}

@rest({
  route: "/shop/boxes",
  methods: [
    all({ populate: { friend: true } }),
    one(),
    update(),
    updateAll({ fields: ["until"], max: 10 }),
  ],
})
class Box extends FrameworkModel {
  @prop()
  name?: string;

  @prop({ required: true, hidden: true })
  pin!: string;

  @prop()
  words?: string;

  @prop({ type: Home })
  home?: Home;

  @prop({ type: Home })
  office?: Home;

  @arrayProp({ items: Item, embedded: true })
  items?: Item[];

  @arrayProp({ items: String })
  lines?: string[];

  @arrayProp({ items: String, enum: ["red", "blue"] })
  colors?: string[];

  @prop({ type: Object })
  free?: object;

  @prop({ type: Map, of: Number })
  scores?: Map<string, number>;

  @arrayProp({ items: () => Friend })
  friends?: Ref<Friend>[];

  @prop({ ref: () => Friend })
  friend?: Ref<Friend>;

  @prop({ type: Date })
  until?: Date;
}

/** A box with values that its reader cannot see or that no input can have, and with elements that lack values. */
function boxOf([ann, zoe]: readonly mongoose.Types.ObjectId[]) {
  const ids = Array.from({ length: 3 }, () => new mongoose.Types.ObjectId());
  const home = { street: "High Street", city: "Ghent" };
  return {
    name: "one",
    pin: "1234",
    words: "first\nsecond",
    home: null,
    office: { street: "Low Street" },
    items: [
      {
        _id: ids[0],
        title: "A",
        note: "of A",
        level: 1,
        cost: 1,
        key: "a",
        home,
        marks: [1, null, 2],
      },
      { _id: ids[1], title: "B", cost: 2, key: "b", level: 2, marks: [3, null, 4] },
      { _id: ids[2], title: "C", cost: 3, key: "c", level: null, marks: [] },
    ],
    lines: ["x", "y\nz", "", " q"],
    colors: ["red"],
    free: { a: 1, b: { c: 2, d: new Date(5) } },
    scores: { u: 1, v: 2 },
    friends: [ann, zoe],
    friend: ann,
    until: new Date("9999-12-31T23:59:59.999Z"),
    __v: 0,
  };
}

class Slot extends FrameworkModel {
  @prop()
  title?: string;
}

@rest({ route: "/shop/shelves", methods: [all(), one()] })
class Shelf extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @rest({ methods: [all({ page: { max: 50 } }), remove()] })
  @arrayProp({ items: Slot, embedded: true })
  slots!: Slot[];

  @rest({ methods: [all()] })
  @arrayProp({ items: Slot, embedded: true })
  hooks!: Slot[];
}

function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({ models: [Box, Friend, Shelf], strict: onlyStrict("bodies") });
  app.use(api);
  app.use("/admin", admin(api, { title: "Shop" }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}

async function seed(): Promise<void> {
  const friends = await getModel(Friend).create(["Ann", "Zoe", "Bob"].map((name) => ({ name })));
  await getModel(Box).collection.insertOne(boxOf(friends.map(({ _id }) => _id)) as never);
}

interface Form extends AsyncDisposable {
  readonly admin: AdminBrowser;
  readonly tab: Tab;
  /** The bodies that the page has sent. */
  readonly bodies: readonly unknown[];
}

/** Opens the list of boxes in Berlin. */
async function openBoxes(): Promise<Form> {
  const admin = await openAdminBrowser({ buildApp, seed, path: "/admin/" });
  const tab = await admin.openTab("/shop~friends");
  await tab.page.emulateTimezone("Europe/Berlin");
  await tab.click("[role=menuitem] ::-p-text(Boxes)");
  const bodies: unknown[] = [];
  tab.page.on("request", (request) => {
    if (request.method() === "PATCH") bodies.push(JSON.parse(request.postData() ?? ""));
  });
  const dispose = () => admin[Symbol.asyncDispose]();
  return { admin, tab, bodies, [Symbol.asyncDispose]: dispose };
}

/** Opens the form of the box. */
async function openBox(): Promise<Form> {
  const form = await openBoxes();
  await form.tab.open("one");
  await form.tab.until("[name=name]", ["one"]);
  await form.tab.page.waitForNetworkIdle();
  return form;
}

type Stored = ReturnType<typeof boxOf>;

async function findBox(): Promise<Stored | null> {
  return await getModel(Box).collection.findOne<Stored>({});
}

/** Replaces the text of an input, and leaves the input. */
async function retype({ page }: Tab, name: string, text: string): Promise<void> {
  const input = await page.locator(`[name="${name}"]`).waitHandle();
  await input.focus();
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.type(text);
  await page.keyboard.press("Tab");
}

test("a form sends nothing that nobody has edited", async () => {
  await using form = await openBox();
  const before = await findBox();
  await form.tab.page.focus("[name=until]");
  await form.tab.page.focus("[name=words]");
  await form.tab.fill("name", "two");
  await form.tab.send(SAVE);
  assertEquals(form.bodies, [{ name: "two" }]);
  assertEquals(await findBox() as object, { ...before, name: "two", __v: 1 });
  assertEquals(form.admin.refusals(), [ZOE]);
});

test("the elements of a list keep their values when another one is removed, added or edited", async () => {
  await using form = await openBox();
  const { tab } = form;
  const [, second, third] = (await findBox())?.items ?? [];
  await tab.click(".ra-input-items .button-remove");
  await tab.until("[name$='.title']", ["B", "C"]);
  await tab.click(".ra-input-items .button-add");
  await tab.until("[name$='.title']", ["B", "C", ""]);
  await tab.until("[name$='.level']", ["2", "", "5"]);
  await tab.fill("items.0.title", "B!");
  await tab.fill("items.2.title", "D");
  await tab.fill("items.2.key", "d");
  await tab.send(SAVE);
  const sent = [
    { _id: String(second?._id), title: "B!", level: 2, marks: [3, null, 4] },
    { _id: String(third?._id), title: "C", level: null, marks: [] },
    { title: "D", level: 5, key: "d", marks: [] },
  ];
  assertEquals(form.bodies, [{ items: sent }]);
  await tab.page.waitForSelector(`${SAVE}:disabled`);
  await tab.fill("items.2.title", "E");
  await tab.send(SAVE);
  const { items = [] } = await findBox() ?? {};
  assertEquals(items.map(({ cost, key }) => [cost, key]), [[2, "b"], [3, "c"], [undefined, "d"]]);
  assertEquals(items[2]?.title, "E");
  assertEquals(form.admin.refusals(), [ZOE]);
});

test("an element without an optional object needs none of its fields", async () => {
  await using form = await openBox();
  await form.tab.fill("items.1.title", "B!");
  await form.tab.send(SAVE);
  assertEquals((await findBox())?.items[1]?.title, "B!");
});

test("lists and texts keep the values that their inputs cannot show", async () => {
  await using form = await openBox();
  const { tab } = form;
  const { friends: [ann, zoe] = [] } = await findBox() ?? {};
  await retype(tab, "lines", `["x!","y\\nz",""," q"]`);
  await tab.page.focus("[name=words]");
  await tab.page.keyboard.type("The ");
  await tab.until(".ra-input-friends .MuiChip-label", ["Ann", String(zoe)]);
  await tab.click(".ra-input-friends [role=combobox]");
  await tab.click("[role=option] ::-p-text(Bob)");
  await tab.until(".ra-input-friends .MuiChip-label", ["Ann", String(zoe), "Bob"]);
  await tab.send(SAVE);
  const { lines, words, friends = [] } = await findBox() ?? {};
  assertEquals([lines, words], [["x!", "y\nz", "", " q"], "The first\nsecond"]);
  assertEquals([friends.slice(0, 2), friends.length], [[ann, zoe], 3]);
});

test("a list shows a value that its model no longer allows", async () => {
  await using form = await openBoxes();
  await getModel(Box).collection.updateOne({}, { $set: { colors: ["red", "mauve"] } });
  const { tab } = form;
  await tab.open("one");
  await tab.until(".ra-input-colors .MuiChip-label", ["Red", "Mauve"]);
  await tab.click(".ra-input-colors [role=combobox]");
  await tab.click("[role=option] ::-p-text(Blue)");
  await tab.send(SAVE);
  assertEquals(form.bodies, [{ colors: ["red", "mauve", "blue"] }]);
});

test("a key that is removed from JSON is removed, and the other keys stay", async () => {
  await using form = await openBox();
  await retype(form.tab, "free", `{"a":1,"b":{"d":"1970-01-01T00:00:00.005Z"},"e":[null]}`);
  await retype(form.tab, "scores", `{"u":1}`);
  await form.tab.send(SAVE);
  assertEquals(form.bodies, [{ free: { b: { c: null }, e: [null] }, scores: { v: null } }]);
  const { free, scores } = await findBox() ?? {};
  assertEquals([free as unknown, scores as unknown], [
    ...[{ a: 1, b: { d: new Date(5) }, e: [null] }, { u: 1 }],
  ]);
});

test("a date for several entities has the time zone of the reader", async () => {
  await using form = await openBoxes();
  const { tab } = form;
  await tab.click("tbody [type=checkbox]");
  await tab.click("button ::-p-text(Change)");
  await tab.click(`${DIALOG} [name=until]`);
  await tab.page.keyboard.type("01022026");
  await tab.page.keyboard.press("Tab");
  await tab.page.keyboard.type("0304PM");
  await tab.send(`${DIALOG} button[type=submit]`);
  assertEquals((await findBox())?.until, new Date("2026-01-02T14:04:00Z"));
});

test("tables of parts have pages", async () => {
  await using admin = await openAdminBrowser({ buildApp, seed, path: "/admin/" });
  const slots = Array.from({ length: 101 }, (_, at) => ({ title: `slot ${at}` }));
  await getModel(Shelf).create({ name: "long", slots, hooks: slots });
  const tab = await admin.openTab("/shop~shelves");
  await tab.open("long");
  const [first, second] = ["Slots", "Hooks"].map((name) => `section[aria-label=${name}]`);
  await tab.until(`${first} p.MuiTablePagination-displayedRows`, ["1–50 of more than 50"]);
  await tab.until(`${second} p.MuiTablePagination-displayedRows`, ["1–100 of 101"]);
  await tab.click(`${second} [aria-label="Go to next page"]`);
  await tab.until(`${second} tbody tr`, ["slot 100"]);
  await tab.click(`${first} [aria-label="Go to next page"]`);
  await tab.until(`${first} p.MuiTablePagination-displayedRows`, ["51–100 of more than 100"]);
  await tab.click(`${first} [aria-label="Go to next page"]`);
  await tab.until(`${first} p.MuiTablePagination-displayedRows`, ["101–101 of 101"]);
  await tab.click(`${first} tbody button`);
  await tab.click(`${DIALOG} .ra-confirm`);
  await tab.until(`${first} p.MuiTablePagination-displayedRows`, ["51–100 of 100"]);
  assertEquals(admin.refusals(), []);
});
