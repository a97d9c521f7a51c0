import { assert, assertEquals } from "@std/assert";
import express, { type Express } from "express";
import { admin, type AdminModel } from "@mongrove/mongrove/admin";
import { action, all, arrayProp, create, Framework, FrameworkModel } from "@mongrove/mongrove";
import { getModel, one, prop, type Ref, remove, rest, update } from "@mongrove/mongrove";
import { test } from "../harness/testing.ts";
import { onlyStrict } from "../support/only_strict.ts";
import { type AdminBrowser, openAdminBrowser, type TabOptions } from "./support/admin_tab.ts";
import type { Tab } from "./support/admin_page.ts";

const SAVE = "form button[type=submit]";
const DIALOG = "[role=dialog]";
const MESSAGE = ".MuiSnackbar-root";

class Line extends FrameworkModel {
  @prop({ match: /^[A-Z]\d+$/, description: "A letter and digits" })
  code?: string;
}

@rest({
  route: "/invoices",
  trash: { see: () => true },
  methods: [
    all({ page: { max: 50 } }),
    one(),
    create(),
    update(),
    remove(),
    action("sendAgain", { on: "one", run: () => {} }),
  ],
})
class Invoice extends FrameworkModel {
  @prop({ required: true })
  number!: string;

  @prop({ type: Number })
  total?: number;

  @prop({ match: /^\S+@\S+$/, description: "An e-mail address" })
  mail?: string;

  @prop({ match: /^\d+$/ })
  phone?: string;

  @prop()
  subject?: string;

  @prop()
  street?: string;

  @arrayProp({ items: Line, embedded: true })
  lines?: Line[];

  @prop({ ref: () => Customer, onDelete: "restrict" })
  customer?: Ref<Customer>;
}

@rest({ route: "/customers", methods: [all({ page: { max: 50 } }), one(), update(), remove()] })
class Customer extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

const models = {
  Invoice: {
    list: ["number", "mail", "phone", "subject", "street"],
    format: { total: { currency: "EUR" } },
  } satisfies AdminModel<Invoice>,
};

function buildApp(): Express {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({
    models: [Invoice, Customer],
    strict: onlyStrict("bodies"),
    guard: (req) => {
      Object.assign(req, { user: "u17" });
      return true;
    },
    actor: (req) => Reflect.get(req, "user"),
    actorNames: () => Promise.resolve(new Map([["u17", "Rose Tyler"]])),
  });
  app.use(api);
  const session = { signIn: "../sign-in", signOut: "../sign-out" };
  app.use("/admin", admin(api, { title: "Office", models, session }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}

const LONG = "a word that is ".repeat(6).trim();

async function seed(): Promise<void> {
  const { _id: customer } = await getModel(Customer).create({ name: "Acme" });
  await getModel(Invoice).create({
    ...{ number: "2026-1", total: 1990, mail: "office.of.accounts@acme.example", phone: "123456" },
    ...{ subject: LONG, street: LONG, lines: [{ code: "A1" }], customer },
  } as never);
}

interface Office extends AsyncDisposable {
  readonly admin: AdminBrowser;
  readonly tab: Tab;
}

async function openOffice(place: string, options?: TabOptions): Promise<Office> {
  const admin = await openAdminBrowser({ buildApp, seed, path: "/admin/" });
  const tab = await admin.openTab(place, options);
  return { admin, tab, [Symbol.asyncDispose]: () => admin[Symbol.asyncDispose]() };
}

const WIDTHS = "[document.documentElement.scrollWidth, innerWidth]";
const textOf = (name: string) => `.ra-input-${name} .MuiFormHelperText-root`;
const button = (text: string) => `button ::-p-text(${text})`;

/** Presses "Remove" on the page of an entity, and agrees. */
async function removeShown(tab: Tab): Promise<void> {
  await tab.click(`main ${button("Remove")}`);
  await tab.page.waitForSelector(DIALOG);
  await tab.send(`${DIALOG} .ra-confirm`);
}

test("a removed entity is not read again, and one message says that it was removed", async () => {
  await using office = await openOffice("/invoices");
  const { admin, tab } = office;
  await tab.open("2026-1");
  await tab.page.waitForSelector(SAVE);
  const read: string[] = [];
  tab.page.on("request", (each) => {
    const { pathname } = new URL(each.url());
    if (each.method() === "GET" && /^\/invoices\/./.test(pathname)) read.push(pathname);
  });
  await removeShown(tab);
  await tab.until(MESSAGE, ["Moved to the trash"]);
  await tab.until("main h2", ["There are no invoices"]);
  await tab.until(MESSAGE, []);
  await tab.page.waitForNetworkIdle();
  assertEquals(read, []);
  assertEquals(admin.refusals(), []);
});

test("a wide list and its trash are scrolled, and not the page", async () => {
  await using office = await openOffice("/invoices");
  const { admin: { app }, tab } = office;
  const checkWidth = async () => {
    const [page = 0, window = 0] = await tab.page.evaluate(WIDTHS) as number[];
    assert(page <= window, `the page is ${page} pixels wide in a window of ${window}`);
  };
  const resize = (width: number) => tab.page.setViewport({ width, height: 900 });
  const checkDesks = async (row: string) => {
    for (const width of [1280, 700]) {
      await resize(width);
      await tab.page.waitForSelector(row);
      await checkWidth();
    }
  };
  await checkDesks("tbody tr");
  const [stored] = await app.read<{ _id: string }[]>("/invoices");
  await app.delete(`/invoices/${stored?._id}`);
  await tab.page.reload();
  await tab.click(`main ${button("Trash")}`);
  await checkDesks(`tbody ${button("Remove for good")}`);
  // The menu covers a narrow page until the page is loaded again.
  await resize(390);
  await tab.page.reload();
  await tab.page.waitForSelector(`main li ${button("Remove for good")}`);
  await checkWidth();
  await tab.send(`main li ${button("Restore")}`);
  await tab.until(MESSAGE, ["Restored"]);
});

test("a list offers the times of the trash as filters in the trash alone", async () => {
  await using office = await openOffice("/invoices");
  const { tab } = office;
  const offered = async () => {
    await tab.click("button.add-filter");
    await tab.page.waitForSelector("[role=menuitemcheckbox]");
    const texts = await tab.page.$$eval(
      "[role=menuitemcheckbox]",
      (all) => all.map(({ textContent }) => textContent ?? ""),
    );
    await tab.page.keyboard.press("Escape");
    await tab.page.waitForSelector("[role=menuitemcheckbox]", { hidden: true });
    return texts.filter((text) => /^Deleted /.test(text)).length > 0;
  };
  await tab.page.waitForSelector("tbody tr");
  assertEquals(await offered(), false);
  await tab.click(`main ${button("Trash")}`);
  await tab.page.waitForSelector("main ::-p-text(The trash is empty.)");
  assertEquals(await offered(), true);
});

test("the account menu says who is signed in", async () => {
  await using office = await openOffice("/invoices");
  const { tab } = office;
  await tab.click("header button[aria-label=Profile]");
  await tab.until("#menu-appbar [role=menuitem]", ["Rose Tyler", "Sign out"]);
});

test("a number takes a comma as its point, and refuses what is no number", async () => {
  await using office = await openOffice("/invoices");
  const { tab } = office;
  await tab.open("2026-1");
  await tab.until("[name=total][inputmode=decimal]", ["1990"]);
  for (const text of ["19,90,1", "1.990,50", "1,990", "12x", "--"]) {
    await tab.fill("total", text);
    await tab.until(textOf("total"), ["Type a number, such as 19.90"]);
  }
  await tab.fill("total", "19,90");
  await tab.until(textOf("total"), [""]);
  const sent = tab.page.waitForRequest((each) => each.method() === "PATCH");
  await tab.send(SAVE);
  assertEquals((await sent).postData(), JSON.stringify({ total: 19.9 }));
  await tab.until("[name=total]", ["19.9"]);
});

test("a refused value is told with the description of its field", async () => {
  await using office = await openOffice("/invoices");
  const { tab } = office;
  await tab.open("2026-1");
  await tab.fill("mail", "nobody");
  await tab.fill("phone", "no");
  await tab.fill("lines.0.code", "none");
  await tab.send(SAVE);
  await tab.until(textOf("mail"), ["This value is not valid: An e-mail address"]);
  await tab.until(textOf("phone"), ["This value is not valid"]);
  await tab.until("[name='lines.0.code']", ["none"]);
  await tab.page.waitForSelector("form ::-p-text(This value is not valid: A letter and digits)");
});

test("messages name an action by its words, and a list by its name", async () => {
  await using office = await openOffice("/invoices");
  const { tab } = office;
  await tab.open("2026-1");
  await tab.click(`main ${button("Send again")}`);
  await tab.page.waitForSelector(DIALOG);
  await tab.send(`${DIALOG} button[type=submit]`);
  await tab.until(MESSAGE, ["Send again: done"]);
  await tab.until(MESSAGE, []);
  await tab.click("[role=menuitem] ::-p-text(Customers)");
  await tab.open("Acme");
  await removeShown(tab);
  await tab.until(MESSAGE, ["Cannot remove the customer: it is still used by: Invoices"]);
});
