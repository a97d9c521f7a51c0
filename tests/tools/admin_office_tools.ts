import { assert, assertEquals } from "@std/assert";
import express, { type Express } from "express";
import { admin } from "@mongrove/mongrove/admin";
import { all, arrayProp, create, Framework, FrameworkModel } from "@mongrove/mongrove";
import { type FrameworkRequest, getModel, one, prop, type Ref } from "@mongrove/mongrove";
import { remove, replace, rest, type Restricted, StoredFile, update } from "@mongrove/mongrove";
import { test } from "../harness/testing.ts";
import { onlyStrict } from "../support/only_strict.ts";
import { type AdminBrowser, openAdminBrowser } from "./support/admin_tab.ts";
import type { Tab } from "./support/admin_page.ts";
import { findSerious } from "./support/axe.ts";

const isBob = ({ headers }: FrameworkRequest) => headers["x-user"] === "bob";
const notForBob = (req: FrameworkRequest) => !isBob(req);

@rest({
  route: "/clerks",
  methods: [all({ preFetch: notForBob }), one({ preFetch: notForBob })],
})
class Clerk extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

class Message extends FrameworkModel {
  @prop({ required: true })
  text!: string;

  @prop({ default: false, hidden: isBob })
  internal!: Restricted<boolean>;

  @prop()
  reference?: string;

  @prop({ stamp: "createdBy" })
  readonly author?: string;

  @prop({ type: Date, default: () => new Date(), readonly: true })
  readonly sentAt?: Date;
}

class Enclosure extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ stamp: "createdBy" })
  readonly author?: string;

  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 100_000 })
  file?: StoredFile;
}

class Step extends FrameworkModel {
  @prop()
  words?: string;

  @prop({ default: true })
  open?: boolean;
}

const NAME = { select: ["name"] } as const;
const populate = { clerk: NAME, deputies: NAME };

@rest({
  route: "/letters",
  history: true,
  trash: { see: () => true },
  schemaOptions: { timestamps: true },
  methods: [
    all({ page: { max: 20 }, populate }),
    one({ populate }),
    create(),
    update(),
    remove(),
  ],
})
class Letter extends FrameworkModel {
  @prop({ required: true })
  subject!: string;

  @prop({ default: true })
  open!: boolean;

  @prop({ type: Boolean, default: null })
  answered?: boolean;

  @prop({ ref: Clerk, unguarded: true })
  clerk?: Ref<Clerk>;

  @arrayProp({ items: () => Clerk, unguarded: true })
  deputies?: Ref<Clerk>[];

  @arrayProp({ items: Step, embedded: true })
  steps?: Step[];

  @prop()
  street?: string;

  @rest({ methods: [all(), one(), create(), update(), remove()] })
  @arrayProp({ items: Message, embedded: true, apart: true })
  messages?: Message[];

  @rest({ methods: [all(), one(), create(), remove()] })
  @arrayProp({ items: Enclosure, embedded: true })
  enclosures?: Enclosure[];

  @prop({ stamp: "createdBy" })
  readonly createdBy?: string;

  readonly createdAt!: Date;
  readonly updatedAt!: Date;
}

@rest({
  route: "/memos",
  history: true,
  methods: [all({ page: { max: 20 } }), one(), create(), update()],
})
class Memo extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @rest({ methods: [all(), one(), create()] })
  @arrayProp({ items: Enclosure, embedded: true, apart: true })
  enclosures?: Enclosure[];
}

const userOf = ({ headers }: FrameworkRequest) => headers["x-user"] as string | undefined;
const LONG = "We have looked at your invoice again and found that the discount was missing.";
const CLERK = "6b0c81bb1e7753872386c691";

function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({
    models: [Letter, Memo, Clerk],
    strict: onlyStrict("bodies"),
    guard: (req) => ["ann", "bob"].includes(userOf(req) ?? ""),
    actor: userOf,
    actorNames: (ids) => Promise.resolve(new Map(ids.map((id) => [id, `Name of ${id}`]))),
  });
  app.use(api);
  const list = ["subject", "clerk", "deputies", "open", "street", "createdAt", "updatedAt"];
  const login = { header: "x-user", label: "User" };
  app.use("/admin", admin(api, { title: "Post", login, models: { Letter: { list } } }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}

async function seed(): Promise<void> {
  await getModel(Clerk).create({ _id: CLERK, name: "Pat Doe" } as never);
}

const asAnn = { headers: { "x-user": "ann" } };

interface Office extends AsyncDisposable {
  readonly admin: AdminBrowser;
  readonly tab: Tab;
  readonly id: string;
}

async function openOffice(user = "ann"): Promise<Office> {
  const admin = await openAdminBrowser({ buildApp, seed, path: "/admin/" });
  const { _id } = await admin.app.created("/letters", {
    ...{ subject: "Complaint", clerk: CLERK, deputies: [CLERK], steps: [{ words: "Read it" }] },
  }, asAnn);
  const messages = { text: LONG, internal: true, reference: CLERK };
  await admin.app.created(`/letters/${_id}/messages`, messages, asAnn);
  await admin.app.created(`/letters/${_id}/enclosures`, { title: "Scan" }, asAnn);
  const tab = await admin.openTab("/letters", { user });
  return { admin, tab, id: String(_id), [Symbol.asyncDispose]: () => admin[Symbol.asyncDispose]() };
}

const MAIN = "main h1, h1";
const DIALOG = "[role=dialog]";
const DETAILS = "section[aria-label=Details]";
const MESSAGES = "section[aria-label=Messages]";
const button = (text: string) => `button ::-p-text(${text})`;
const cell = (section: string, column: number) =>
  `section[aria-label=${section}] tbody td:nth-child(${column})`;

/** The width in pixels of the first element that a selector finds. */
function widthOf({ page }: Tab, selector: string): Promise<number> {
  return page.$eval(selector, (found) => found.clientWidth);
}

test("a guard that refuses strangers leads to the login, and so does a wrong token", async () => {
  await using office = await openOffice();
  const tab = await office.admin.openTab("/letters");
  await tab.until(MAIN, ["Sign in to Post"]);
  await tab.until("[role=alert]", []);
  await tab.type("input[type=password]", "nobody");
  await tab.click("form button");
  await tab.page.waitForSelector("[role=alert]");
  await tab.page.reload();
  await tab.page.waitForSelector("[role=alert]");
  await tab.type("input[type=password]", "bob");
  await tab.click("form button");
  await tab.until(".column-subject.MuiTableCell-body", ["Complaint"]);
});

test("a reference to a class that the reader may not list has its name, and no link", async () => {
  await using office = await openOffice("bob");
  const { tab } = office;
  await tab.until("tbody .column-clerk, tbody .column-deputies", ["Pat Doe", "Pat Doe"]);
  assertEquals(await tab.page.$$("tbody .column-clerk a, tbody .column-deputies a"), []);
  await tab.open("Complaint");
  await tab.until("[name=clerk]", [CLERK]);
  await tab.until(`${DETAILS} dd:nth-of-type(n+3):nth-of-type(-n+4)`, ["Pat Doe", "Pat Doe"]);
  await tab.fill("subject", "Praise");
  const sent = tab.page.waitForRequest((each) => each.method() === "PATCH");
  await tab.send("form button[type=submit]");
  assertEquals((await sent).postData(), JSON.stringify({ subject: "Praise" }));
});

test("parts name their senders, also those with a collection of their own", async () => {
  await using office = await openOffice();
  const { tab } = office;
  await tab.open("Complaint");
  await tab.until(cell("Messages", 4), ["Name of ann"]);
  await tab.until(cell("Enclosures", 2), ["Name of ann"]);
});

test("the buttons of the trash are seen without scrolling", async () => {
  await using office = await openOffice();
  const { admin: { app }, tab, id } = office;
  await tab.page.waitForSelector("tbody tr");
  await app.delete(`/letters/${id}`, asAnn);
  await tab.page.reload();
  await tab.click(`main ${button("Trash")}`);
  for (const text of ["Restore", "Remove for good"]) {
    const found = await tab.page.waitForSelector(`tbody ${button(text)}`);
    assertEquals(await found?.isIntersectingViewport({ threshold: 1 }), true, text);
  }
  assertEquals(await findSerious(tab.page), []);
});

test("a Boolean with a default is a switch that shows it, in new and stored entities", async () => {
  await using office = await openOffice();
  const { tab } = office;
  const checked = (within: string) =>
    tab.page.$$eval(
      `${within} input[type=checkbox]`,
      (all) => all.map((each) => (each as unknown as { checked: boolean }).checked),
    );
  await tab.click(`main a[href$="/create"]`);
  await tab.page.waitForSelector("[name=subject]");
  assertEquals(await checked("form"), [true]);
  await tab.click("[role=menuitem] ::-p-text(Letters)");
  await tab.open("Complaint");
  await tab.page.waitForSelector("form [name='steps.0.words']");
  assertEquals(await checked("form"), [true, true]);
  await tab.click(`${MESSAGES} ${button("Add")}`);
  await tab.page.waitForSelector(`${DIALOG} [name=text]`);
  assertEquals(await checked(DIALOG), [false]);
  await tab.type(`${DIALOG} [name=text]`, "Not for the customer");
  await tab.click(`${DIALOG} input[type=checkbox]`);
  const sent = tab.page.waitForRequest((each) => each.method() === "POST");
  await tab.send(`${DIALOG} button[type=submit]`);
  const body = JSON.parse((await sent).postData() ?? "");
  assertEquals(body, { text: "Not for the customer", internal: true });
});

test("the question before a set back says that files go, where there are some", async () => {
  await using office = await openOffice();
  const { admin: { app }, tab } = office;
  const textOfQuestion = async (list: string, entity: string) => {
    await tab.click(`[role=menuitem] ::-p-text(${list})`);
    await tab.open(entity);
    await tab.click("section[aria-label=History] button");
    await tab.click(`section[aria-label=History] ${button("Set back")}`);
    const found = await tab.page.waitForSelector(`${DIALOG} p`);
    const text = await found?.evaluate(({ textContent }) => textContent ?? "");
    await tab.click(`${DIALOG} ${button("Cancel")}`);
    await tab.page.waitForSelector(DIALOG, { hidden: true });
    return text;
  };
  const values = "Your fields get the values that they had after this version.";
  assertEquals(
    await textOfQuestion("Letters", "Complaint"),
    `${values} Entries that were added since then are removed, and their files are lost for good.`,
  );
  const { _id } = await app.created("/memos", { title: "Call" }, asAnn);
  await app.patch(`/memos/${_id}`, { title: "Call back" }, asAnn);
  assertEquals(await textOfQuestion("Memos", "Call back"), values);
});

test("texts have more room in tables than identifiers and times", async () => {
  await using office = await openOffice();
  const { tab } = office;
  await tab.open("Complaint");
  await tab.until(cell("Messages", 1), [LONG]);
  const [text = 0, id = 0, time = 0] = await Promise.all(
    [1, 3, 5].map((column) => widthOf(tab, cell("Messages", column))),
  );
  assert(text > 200 && text > id + 50 && text > time + 50, `${text}, ${id} and ${time} pixels`);
});
