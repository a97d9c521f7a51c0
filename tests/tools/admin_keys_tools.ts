import { assert, assertEquals, assertMatch } from "@std/assert";
import express, { type Express } from "express";
import { admin } from "@mongrove/mongrove/admin";
import { action, all, arrayProp, create, Framework, FrameworkModel } from "@mongrove/mongrove";
import { getModel, one, prop, rest, RestError } from "@mongrove/mongrove";
import { apiKeyOf, keys } from "@mongrove/mongrove/keys";
import { test } from "../harness/testing.ts";
import { onlyStrict } from "../support/only_strict.ts";
import type { Tab } from "./support/admin_page.ts";
import { type AdminBrowser, openAdminBrowser } from "./support/admin_tab.ts";
import { findSerious } from "./support/axe.ts";

const DIALOG = "[role=dialog]";
const FIELD = `${DIALOG} input[readonly]`;
const SEND = `${DIALOG} button[type=submit]`;
const SCOPE = `${DIALOG} .ra-input-scopes input`;
const CHOSEN = `${DIALOG} .ra-input-scopes .MuiChip-label`;
const ALERT = `${DIALOG} [role=alert]`;
const MENU = "nav [role=menuitem]";
const column = (at: number) => `tbody tr > :nth-child(${at})`;
const [NAMES, PREFIXES, SCOPES, STATES] = [1, 2, 3, 7].map(column) as [
  string,
  string,
  string,
  string,
];
const button = (text: string, within = "main") => `${within} button ::-p-text(${text})`;
const MAX = 2;

class Comment extends FrameworkModel {
  @prop()
  text?: string;
}

const close = action("close", { on: "one", run: (_req, ticket) => ticket });

@rest({ route: "/tickets", methods: [all({ page: { max: 20 } }), one(), create(), close] })
class Ticket extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @rest({ methods: [all(), create()] })
  @arrayProp({ items: Comment, embedded: true })
  comments?: Comment[];
}

function senderOf(req: object): string | undefined {
  const { headers } = req as { readonly headers: { readonly authorization?: string } };
  return apiKeyOf(req)?.owner as string ??
    /^Bearer (ann|bob|eve)$/.exec(headers.authorization ?? "")?.[1];
}

/** Serves the page with keys at `/admin`, for a login by key at `/by-key/admin`, and without keys at `/plain/admin`. */
function buildApp(): Express {
  const options = {
    models: [Ticket],
    strict: onlyStrict("bodies"),
    actor: senderOf,
    guard: (req: object) => {
      if (senderOf(req) === undefined) throw new RestError(401, { code: "UNAUTHENTICATED" });
      return true;
    },
  };
  const owner = (id: unknown) => ({ id });
  const see = (req: object) => senderOf(req) === "eve";
  const api = Framework.initialize({ ...options, plugins: [keys({ owner, see, max: MAX })] });
  const plain = Framework.initialize(options);
  const login = { header: "authorization", prefix: "Bearer ", label: "Token" };
  const app = express();
  app.use(express.json());
  app.use("/plain", plain);
  app.use("/plain/admin", admin(plain, { title: "Plain", login }));
  app.use(api);
  app.use("/admin", admin(api, { title: "Desk", login }));
  const byKey = { header: "x-api-key", label: "Key" };
  app.use("/by-key/admin", admin(api, { title: "Desk", apiPath: "../..", login: byKey }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}

async function seed(): Promise<void> {
  await getModel(Ticket).create({ title: "Printer" });
}

function openDesk(path = "/admin/"): Promise<AdminBrowser> {
  return openAdminBrowser({ buildApp, seed, path });
}

/** Fills the form of a new key in. A scope is the first one that matches its text, or else a new one. */
async function fillForm(tab: Tab, name: string, scopes: readonly string[]): Promise<void> {
  await tab.click(button("New key"));
  await tab.type(`${DIALOG} [name=name]`, name);
  for (const [at, scope] of scopes.entries()) {
    await tab.type(SCOPE, scope);
    await tab.page.keyboard.press("Enter");
    await tab.until(CHOSEN, scopes.slice(0, at + 1));
  }
}

const TRACES = `[document.documentElement.outerHTML, location.href,
  JSON.stringify([history.state, { ...localStorage }, { ...sessionStorage }]),
  ...[...document.querySelectorAll("input, textarea")].map(({ value }) => value)].join()`;

/** Copies the key that is shown. After its dialog is closed, the page has it nowhere. */
async function takeKey(tab: Tab): Promise<string> {
  const { page } = tab;
  await page.browserContext().overridePermissions(new URL(page.url()).origin, [
    "clipboard-read",
    "clipboard-sanitized-write",
  ]);
  await page.waitForSelector(FIELD);
  await tab.until(`${DIALOG} [role=alert]`, ["Copy the key now. It is not shown again."]);
  await tab.click(button("Copy", DIALOG));
  await tab.until(`${DIALOG} [role=status]`, ["Copied"]);
  const key = String(await page.evaluate("navigator.clipboard.readText()"));
  await tab.until(FIELD, [key]);
  assertMatch(key, /^mgv_[a-z0-9]{8}_[\w-]{43}[0-9A-Za-z]{6}$/);
  assert(String(await page.evaluate(TRACES)).includes(key));
  await tab.click(button("Close", DIALOG));
  await tab.until(DIALOG, []);
  assert(!String(await page.evaluate(TRACES)).includes(key.slice(13)));
  return key;
}

async function makeKey(tab: Tab, name: string, scopes: readonly string[]): Promise<string> {
  await fillForm(tab, name, scopes);
  await tab.send(SEND);
  return await takeKey(tab);
}

const focused = ({ page }: Tab) => page.evaluate("document.activeElement.textContent");

async function choose(tab: Tab, input: string, option: string): Promise<void> {
  await tab.click(`${DIALOG} .ra-input-${input} [role=combobox]`);
  await tab.click(`[role=option]::-p-text(${option})`);
  // It covers the buttons.
  await tab.until("[role=listbox]", []);
}

/** Opens the dialog of the first row, and chooses how long the old key stays valid. */
async function rotate(tab: Tab, overlap: string): Promise<string> {
  await tab.click(button("Rotate", "tbody tr:first-child"));
  await choose(tab, "overlap", overlap);
  await tab.send(SEND);
  return await takeKey(tab);
}

async function statusFor({ app }: AdminBrowser, key: string, path = "/tickets"): Promise<number> {
  return (await app.get(path, { headers: { "x-api-key": key } })).status;
}

test("a key is made on the page, which shows it once, and does what its scopes say", async () => {
  await using desk = await openDesk();
  const tab = await desk.openTab("/", { user: "ann" });
  await tab.click(`${MENU} ::-p-text(API keys)`);
  await tab.until("main h2", ["There are no API keys yet"]);
  const key = await makeKey(tab, "Backup", ["tickets:all"]);
  assertEquals(await focused(tab), "New key");
  await tab.until(NAMES, ["Backup"]);
  await tab.until(PREFIXES, [`${key.slice(0, 12)}…`]);
  await tab.until(SCOPES, ["tickets:all"]);
  await tab.until(STATES, ["Valid"]);
  const [ticket] = await getModel(Ticket).find();
  assertEquals(await statusFor(desk, key), 200);
  assertEquals(await statusFor(desk, key, `/tickets/${ticket?._id}`), 403);
  assertEquals(desk.refusals(), []);
});

test("a key is rotated at once or with an overlap, and ended after a question", async () => {
  await using desk = await openDesk();
  const status = (key: string) => statusFor(desk, key);
  const tab = await desk.openTab("/keys", { user: "ann" });
  const key = await makeKey(tab, "Backup", ["tickets:all"]);
  const second = await rotate(tab, "None");
  assertEquals(await focused(tab), "Rotate");
  assertEquals([await status(key), await status(second)], [401, 200]);
  const third = await rotate(tab, "24 hours");
  await tab.until(PREFIXES, [`${third.slice(0, 12)}…`, `${second.slice(0, 12)}…`]);
  assertEquals([await status(second), await status(third)], [200, 200]);

  await tab.click(button("End", "tbody tr:first-child"));
  await tab.page.waitForSelector(`${DIALOG} h2 ::-p-text(End: Backup)`);
  await tab.click(button("Cancel", DIALOG));
  await tab.until(DIALOG, []);
  assertEquals(await status(third), 200);
  await tab.click(button("End", "tbody tr:first-child"));
  await tab.send(`${DIALOG} .ra-confirm`);
  await tab.until(STATES, ["Ended", "Valid"]);
  assertEquals([await status(second), await status(third)], [200, 401]);
  assertEquals(desk.refusals(), []);
});

test("scopes are the operations that the reader may use, and one is required", async () => {
  await using desk = await openDesk();
  const tab = await desk.openTab("/keys", { user: "bob" });
  await tab.click(button("New key"));
  await tab.click(SCOPE);
  await tab.until("[role=option]", [
    ...["tickets:all", "tickets:create", "tickets:one", "tickets:action.close"],
    ...["tickets/comments:all", "tickets/comments:create"],
  ]);
  await tab.page.keyboard.press("Escape");
  await tab.click(SEND);
  await tab.until(`${DIALOG} .Mui-error.MuiFormHelperText-root`, ["Required", "Required"]);
});

test("scopes are typed, and the form says why the server refuses a key", async () => {
  await using desk = await openDesk();
  const tab = await desk.openTab("/keys", { user: "bob" });
  await fillForm(tab, "Wrong", ["tickets/**:*", "nowhere:all"]);
  await tab.send(SEND);
  await tab.until(ALERT, [`Cannot make the key: No such scope: "nowhere:all"`]);
  await tab.page.focus(SCOPE);
  await tab.page.keyboard.press("Backspace");
  await tab.until(CHOSEN, ["tickets/**:*"]);
  await tab.page.keyboard.press("Escape");
  await tab.until("[role=listbox]", []);
  await tab.send(SEND);
  await takeKey(tab);
  await tab.until(SCOPES, ["tickets/**:*"]);
  await makeKey(tab, "Last", ["tickets:*", "tickets:one"]);
  await fillForm(tab, "Too many", ["tickets:all"]);
  await tab.send(SEND);
  await tab.until(ALERT, [
    `Cannot make the key: There are ${MAX} valid keys already: end one of them`,
  ]);
  assertEquals(desk.refusals(), ["400", "409"]);
});

test("a key lasts as long as its maker says, and only its owner rotates it", async () => {
  await using desk = await openDesk();
  const ann = { headers: { authorization: "Bearer ann" } };
  const tab = await desk.openTab("/keys", { user: "ann" });
  await fillForm(tab, "For ever", ["tickets:all"]);
  await tab.click(`${DIALOG} .ra-input-expires [role=combobox]`);
  await tab.until("[role=option]", ["In 30 days", "In 90 days", "In a year", "Never"]);
  await tab.page.keyboard.press("Escape");
  await tab.until("[role=listbox]", []);
  await choose(tab, "expires", "Never");
  await tab.send(SEND);
  await takeKey(tab);
  await makeKey(tab, "For a while", ["tickets:all"]);
  const [first, second] = await desk.app.read<{ expiresAt: string | null }[]>("/keys", ann);
  const days = (Date.parse(first?.expiresAt ?? "") - Date.now()) / (24 * 3600_000);
  assertEquals([Math.round(days), second?.expiresAt], [90, null]);

  const eve = await desk.openTab("/keys", { user: "eve" });
  await eve.until(NAMES, ["For a while", "For ever"]);
  await eve.until(column(4), ["ann", "ann"]);
  await eve.until("tbody button", ["End", "End"]);
});

const SHOWN = `(dialog => dialog && getComputedStyle(dialog).opacity === "1")
  (document.querySelector(".MuiDialog-container"))`;

test("axe finds nothing serious on the page of keys and in its dialogs", async () => {
  await using desk = await openDesk();
  const tab = await desk.openTab("/keys", { user: "ann" });
  await makeKey(tab, "Backup", ["tickets:all"]);
  await tab.until(NAMES, ["Backup"]);
  assertEquals(await findSerious(tab.page), []);
  await tab.click(button("New key"));
  await tab.page.waitForFunction(SHOWN);
  assertEquals(await findSerious(tab.page), []);
});

test("the page says why the server refuses its reader", async () => {
  await using desk = await openDesk("/by-key/admin/");
  const body = { name: "Reader", scopes: ["tickets:*"] };
  const ann = { headers: { authorization: "Bearer ann" } };
  const { body: { key } } = await desk.app.post<{ key: string }>("/keys", body, ann);
  const tab = await desk.openTab("/keys", { user: key });
  await tab.until("main [role=alert]", ["Cannot load the API keys: A key cannot manage keys"]);
  await tab.until("main button", []);
  assertEquals(desk.refusals(), ["403"]);
});

test("without the plugin, the page has no keys", async () => {
  await using desk = await openDesk("/plain/admin/");
  const tab = await desk.openTab("/keys", { user: "ann" });
  await tab.until("[role=alert] h2", ["There is no such page"]);
  await tab.until(MENU, ["Home", "Tickets"]);
});
