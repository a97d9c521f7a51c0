import { assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import { openDesk } from "./support/admin_tab.ts";
import { openDownloads } from "./support/downloads.ts";
import { makeFile, PNG } from "./support/made_files.ts";
import { wantsPicture } from "./support/picture.ts";
import type { Tab } from "./support/admin_page.ts";

const as = (user: string) => ({ headers: { authorization: `Bearer ${user}` } });

interface Ticket {
  readonly _id: string;
  readonly title: string;
  readonly state: string;
  readonly agent?: string;
  readonly note?: string;
  readonly organisation?: string;
}

const TITLES = "tbody .column-title";
const MAIN = "#main-content";
const SAVE = "form button[type=submit]";
const DIALOG = "[role=dialog]";
const MESSAGE = ".MuiSnackbarContent-message";
const button = (text: string, within = "body") => `${within} button ::-p-text(${text})`;

function namesOf(tab: Tab, selector: string): Promise<string[]> {
  return tab.page.$$eval(
    selector,
    (found) =>
      found.map(({ textContent }) => textContent.replaceAll(/[\u00a0\u2009]/g, " ").trim()).filter((
        text,
      ) => text !== ""),
  );
}

async function openTicket(tab: Tab, title: string): Promise<void> {
  await tab.click(`${TITLES} ::-p-text(${title})`);
  await tab.until("[name=title]", [title]);
}

const REFUSED = "The server does not accept this, or you may not see anything. " +
  "Check it, and try again.";

/** The picture of the page in the documentation. */
const PICTURE = new URL("../../docs/admin_list.png", import.meta.url);

test("the login says what it wants, refuses a wrong token, and forgets the token when the reader signs out", async () => {
  await using admin = await openDesk();
  const tab = await admin.openTab("/tickets");
  await tab.until("h1", ["Sign in to Help desk"]);
  await tab.until("form label", ["Token *"]);
  await tab.until("form p", [
    "The identifier of a user, such as ada (an agent) or cem (a customer)",
  ]);
  await tab.type("input[type=password]", "nobody");
  await tab.click(SAVE);
  await tab.until("[role=alert]", [REFUSED]);
  await tab.replace("input[type=password]", "ada");
  await tab.click(SAVE);
  await tab.until(TITLES, ["Printer on fire", "Sand in the keyboard"]);
  assertEquals(
    await tab.page.evaluate("document.cookie + JSON.stringify(localStorage)").then((text) =>
      /ada/.test(String(text))
    ),
    false,
  );
  await tab.click("button[aria-label=Profile]");
  await tab.click("[role=menuitem] ::-p-text(Logout)");
  await tab.until("h1", ["Sign in to Help desk"]);
  assertEquals(await tab.page.evaluate("sessionStorage.length"), 0);
});

test("a list has the declared orders, the search, filters and the total", async () => {
  await using admin = await openDesk();
  const tab = await admin.openTab("/tickets", { user: "ada" });
  await tab.until(TITLES, ["Printer on fire", "Sand in the keyboard"]);
  await tab.until(".MuiTablePagination-displayedRows", ["1-2 of 2"]);
  if (wantsPicture) {
    await tab.page.setViewport({ width: 1000, height: 340 });
    await tab.page.waitForNetworkIdle();
    await tab.page.screenshot({ path: PICTURE.pathname as `${string}.png` });
  }
  assertEquals(await namesOf(tab, "th .MuiTableSortLabel-root"), ["Title", "State"]);
  await tab.click("th ::-p-text(Title)");
  await tab.click("th ::-p-text(Title)");
  await tab.until(TITLES, ["Sand in the keyboard", "Printer on fire"]);
  await tab.type("input[placeholder=Search]", "month");
  await tab.until(TITLES, ["Printer on fire"]);
  await tab.replace("input[placeholder=Search]", "");
  await tab.until(TITLES, ["Sand in the keyboard", "Printer on fire"]);
  await tab.click(button("Add filter"));
  assertEquals(await namesOf(tab, ".MuiPopover-root li"), ["Title", "State", "Agent"]);
  await tab.click(".MuiPopover-root li ::-p-text(Title)");
  await tab.type("input[name='title:has']", "KEY");
  await tab.until(TITLES, ["Sand in the keyboard"]);
  assertEquals(admin.refusals(), []);
});

test("a form marks required fields, shows the errors of the server beside them, and saves", async () => {
  await using admin = await openDesk();
  const tab = await admin.openTab("/tickets/create", { user: "ada" });
  await tab.until("form label", ["Title *", "Organisation", "Note"]);
  await tab.click(SAVE);
  await tab.until(".ra-input-title p", ["Required"]);
  await tab.type("[name=title]", "No coffee");
  await tab.type("[role=combobox]", "Dun");
  await tab.click("[role=option] ::-p-text(Dune)");
  await tab.click(SAVE);
  await tab.until("#react-admin-title", ["No coffee"]);
  const [made] = await admin.app.read<Ticket[]>("/tickets?sort=title", as("ada"));
  assertEquals([made?.title, typeof made?.organisation], ["No coffee", "string"]);
});

test("a customer finds neither what is hidden nor what he may not do", async () => {
  await using admin = await openDesk();
  const tab = await admin.openTab("/tickets", { user: "cem" });
  await tab.until(TITLES, ["Printer on fire"]);
  assertEquals(await namesOf(tab, `${MAIN} button`), ["Add filter", "Columns", "Report"]);
  await openTicket(tab, "Printer on fire");
  await tab.until("section[aria-label=Comments] tbody td:first-child", ["It smells"]);
  await tab.page.waitForSelector(button("Upload"));
  assertEquals(await namesOf(tab, `${MAIN} button`), [
    ...["Close", "Remove", "Save", "Add", "Add", "Upload", "Show"],
  ]);
  assertEquals(await namesOf(tab, "form label"), ["Title *"]);
  assertEquals(await namesOf(tab, "section[aria-label=Comments] th"), ["Text", "Author"]);
  assertEquals(/third time|Again\?|internal|note/i.test(await tab.page.content()), false);
});

test("actions are buttons, with a form for their body and their errors", async () => {
  await using admin = await openDesk();
  const tab = await admin.openTab("/tickets", { user: "ada" });
  await tab.click(button("Report"));
  await tab.until(`${DIALOG} dd`, ["2", "0"]);
  await tab.click(button("Close", DIALOG));
  await tab.until(DIALOG, []);
  await openTicket(tab, "Printer on fire");
  await tab.click(button("Assign"));
  await tab.type("[name=agent]", "cem");
  await tab.click(`${DIALOG} button[type=submit]`);
  await tab.until(`${DIALOG} [role=alert]`, ["Cannot assign: No such agent"]);
  await tab.replace("[name=agent]", "bob");
  await tab.click(`${DIALOG} button[type=submit]`);
  await tab.until(DIALOG, []);
  const [ticket] = await admin.app.read<Ticket[]>("/tickets?sort=title", as("ada"));
  assertEquals(ticket?.agent, "bob");
  await tab.click(button("Add", "section[aria-label=Comments]"));
  await tab.type("[name=text]", "On my way");
  await tab.click(`${DIALOG} button[type=submit]`);
  await tab.until("section[aria-label=Comments] tbody tr:last-child td:first-child", ["On my way"]);
});

test("a customer stores a picture, and an agent sees and saves it", async () => {
  await using admin = await openDesk();
  const attachments = "section[aria-label=Attachments]";
  await using file = await makeFile("a.png", PNG);
  const customer = await admin.openTab("/tickets", { user: "cem" });
  await openTicket(customer, "Printer on fire");
  const chooser = customer.page.waitForFileChooser();
  await customer.click(button("Upload", attachments));
  await (await chooser).accept([file.path]);
  await customer.page.waitForSelector(`${attachments} img[alt="a.png"]`);
  assertEquals(await namesOf(customer, `${attachments} button`), ["Add", "Replace"]);
  const agent = await admin.openTab("/tickets", { user: "ada" });
  await openTicket(agent, "Printer on fire");
  await agent.page.waitForSelector(`${attachments} img[alt="a.png"]`);
  assertEquals(await namesOf(agent, `${attachments} button`), ["Add", "Replace", "Remove"]);
  await using downloads = await openDownloads(agent.page);
  await agent.click(`${attachments} a`);
  assertEquals(await downloads.read("a.png"), PNG);
  assertEquals(admin.refusals(), []);
});

test("a ticket goes to the trash and comes back, and its history sets it back", async () => {
  await using admin = await openDesk();
  const tab = await admin.openTab("/tickets", { user: "ada" });
  await openTicket(tab, "Printer on fire");
  await tab.fill("title", "Printer repaired");
  await tab.click(SAVE);
  await tab.until(MESSAGE, ["Saved"]);
  await tab.click(button("Remove"));
  await tab.click(button("Remove", DIALOG));
  await tab.until(TITLES, ["Sand in the keyboard"]);
  await tab.click(button("Trash"));
  await tab.until(TITLES, ["Printer repaired"]);
  await tab.click(button("Restore"));
  await tab.until(TITLES, []);
  await tab.click(button("Leave the trash"));
  await openTicket(tab, "Printer repaired");
  await tab.click(button("Show", "section[aria-label=History]"));
  await tab.until("section[aria-label=History] strong", ["Version 3", "Version 2", "Version 1"]);
  assertEquals((await namesOf(tab, "section[aria-label=History] button")).length, 3);
});

test("an entity is set back to an earlier version, unless somebody else was faster", async () => {
  await using admin = await openDesk();
  const { app } = admin;
  const tab = await admin.openTab("/tickets", { user: "ada" });
  const history = "section[aria-label=History]";
  await openTicket(tab, "Printer on fire");
  for (const title of ["Printer smokes", "Printer repaired"]) {
    await tab.fill("title", title);
    await tab.click(SAVE);
    await tab.until("#react-admin-title", [title]);
  }
  await tab.click(button("Show", history));
  await tab.until(`${history} strong`, ["Version 2", "Version 1"]);
  await tab.click(button("Set back", history));
  await tab.until(`${DIALOG} h2`, ["Set back to version 1?"]);
  await tab.click(button("Set back", DIALOG));
  await tab.until("[name=title]", ["Printer smokes"]);
  await tab.until(`${history} strong`, ["Version 3", "Version 2", "Version 1"]);
  const [{ _id } = { _id: "" }] = await app.read<Ticket[]>("/tickets?sort=title", as("ada"));
  await app.updated(`/tickets/${_id}`, { title: "Printer is ash" }, as("bob"));
  await tab.until(DIALOG, []);
  await tab.click(button("Set back", history));
  await tab.until(`${DIALOG} h2`, ["Set back to version 2?"]);
  await tab.click(button("Set back", DIALOG));
  await tab.page.waitForSelector("::-p-text(Cannot set back to version 2)");
  assertEquals((await app.read<Ticket>(`/tickets/${_id}`, as("ada"))).title, "Printer is ash");
  assertEquals(admin.refusals(), ["412"]);
});

test("of two readers, the later one sees both versions and chooses", async () => {
  await using admin = await openDesk();
  const { app } = admin;
  const tab = await admin.openTab("/tickets", { user: "ada" });
  await openTicket(tab, "Printer on fire");
  const [{ _id } = { _id: "" }] = await app.read<Ticket[]>("/tickets?sort=title", as("ada"));
  await app.updated(`/tickets/${_id}`, { title: "Printer is ash" }, as("bob"));
  await tab.fill("title", "Printer smokes");
  await tab.click(SAVE);
  await tab.until(`${DIALOG} tbody td`, ["Printer is ash", "Printer smokes"]);
  await tab.click(button("Keep mine", DIALOG));
  await tab.until(MESSAGE, ["Saved"]);
  assertEquals((await app.read<Ticket>(`/tickets/${_id}`, as("ada"))).title, "Printer smokes");
  assertEquals(admin.refusals().includes("412"), true);
});
