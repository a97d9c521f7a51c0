import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { until } from "../support/until.ts";
import { Tab } from "./support/admin_page.ts";
import { findSerious } from "./support/axe.ts";
import { type Chromium, type OpenPage, startChromium } from "./support/chromium.ts";
import { makeDenoApp, makeNodeApp, type NewApp } from "./support/new_app.ts";

const SAVE = "form button[type=submit]";
const TITLES = "tbody .column-title";
const PASSWORD = "correct horse";

/** Opens a tab in a browser without cookies. */
async function openTab({ addContext, open }: Chromium, url: string): Promise<Tab & OpenPage> {
  const opened = await open(url, await addContext());
  await opened.page.setViewport({ width: 1280, height: 900 });
  return Object.assign(new Tab(opened.page), opened);
}

/** An application on its first day. */
class FirstDay {
  constructor(readonly app: NewApp, readonly url: string) {}

  /** Returns the link of the last mail to an address, of which there are `count`. */
  async linkOf(address: string, count: number): Promise<string> {
    const links: string[] = [];
    await until(async () => {
      const log = await Deno.readTextFile(join(this.app.folder, "log.txt"));
      const mails = log.matchAll(RegExp(`^Mail to ${address}: .* (http://\\S+)$`, "gm"));
      links.splice(0, links.length, ...[...mails].map(([, link = ""]) => link));
      return links.length >= count;
    });
    return links[count - 1] ?? "";
  }

  /** Fills the form of a page, and waits for the next page. */
  async submit({ page }: Tab, values: Record<string, string>): Promise<void> {
    for (const [name, value] of Object.entries(values)) {
      await page.locator(`[name=${name}]`).fill(value);
    }
    const next = page.waitForNavigation();
    await page.locator("main button").click();
    await next;
  }

  /** Signs up by a link, verifies the address and signs in. */
  async enter(tab: Tab, { link, email }: { link: string; email: string }): Promise<void> {
    await tab.page.goto(link);
    assertEquals(await findSerious(tab.page), []);
    const mails = await this.#mailsTo(email);
    await this.submit(tab, { name: "Ann", password: PASSWORD });
    await tab.until("[role=status]", [
      "If the address is known or invited, you get a mail with a link.",
    ]);
    await tab.page.goto(await this.linkOf(email, mails + 1));
    assertMatch(tab.page.url(), /\/sign-in\?note=verified$/);
    await this.submit(tab, { email, password: PASSWORD });
    assertEquals(tab.page.url(), `${this.url}/`);
  }

  async #mailsTo(address: string): Promise<number> {
    const log = await Deno.readTextFile(join(this.app.folder, "log.txt"));
    return log.split(`Mail to ${address}: `).length - 1;
  }
}

/** A wrong password is told at its field, which has the focus. */
async function refuse(day: FirstDay, tab: Tab): Promise<void> {
  assertEquals(tab.page.url(), `${day.url}/sign-in`);
  assertEquals(await findSerious(tab.page), []);
  await day.submit(tab, { email: "boss@acme.example", password: "wrong horse" });
  await tab.until("#password-note", ["Email or password is wrong"]);
  assertEquals(await findSerious(tab.page), []);
  const focused = "[document.activeElement.id, document.activeElement.ariaInvalid].join()";
  assertEquals(await tab.page.evaluate(focused), "password,true");
  await tab.until("#email", ["boss@acme.example"]);
}

/** React Router warns of an address that is typed while a form is open. */
const EXPECTED = /401 \(Unauthorized\)|blocker on a POP navigation/;

/** An administrator creates a todo on the admin page, and changes it. */
async function change({ url }: FirstDay, tab: Tab): Promise<void> {
  await tab.click("main a ::-p-text(Todos)");
  // The first page has a link to the form too, which the list replaces.
  await tab.until("#react-admin-title", ["Todos"]);
  await tab.click("a[href='#/todos/create']");
  await tab.type("[name=title]", "Write a model");
  await tab.click(SAVE);
  await tab.until("#react-admin-title", ["Write a model"]);
  await tab.fill("title", "Write a test");
  await tab.click(SAVE);
  await tab.until(".MuiSnackbarContent-message", ["Saved"]);
  await tab.page.goto(`${url}/admin/#/todos`);
  await tab.until(TITLES, ["Write a test"]);
}

/** An administrator invites somebody, who joins as a member and sees the todos, and no invitations. */
async function invite(day: FirstDay, boss: Tab, member: Tab): Promise<void> {
  await boss.page.goto(`${day.url}/`);
  await boss.click("main a ::-p-text(Invite somebody)");
  await boss.type("[name=email]", "bob@home.example");
  await boss.click(SAVE);
  const link = await day.linkOf("bob@home.example", 1);
  await day.enter(member, { link, email: "bob@home.example" });
  await member.until("main p", ["Ann, member of acme.example"]);
  assertEquals(await findSerious(member.page), []);
  await member.click("main a ::-p-text(Todos)");
  await member.until(TITLES, ["Write a test"]);
  assertEquals((await member.page.$$("a[href='#/invitations']")).length, 0);
}

/** A member forgets the password, chooses another one, and signs out. */
async function reset(day: FirstDay, tab: Tab): Promise<void> {
  await tab.page.goto(`${day.url}/forgot-password`);
  await day.submit(tab, { email: "bob@home.example" });
  await tab.page.goto(await day.linkOf("bob@home.example", 3));
  assertEquals(await findSerious(tab.page), []);
  await day.submit(tab, { newPassword: "battery horse" });
  await tab.until("[role=status]", ["Your password is saved."]);
  await day.submit(tab, { email: "bob@home.example", password: "battery horse" });
  await day.submit(tab, {});
  await tab.page.goto(`${day.url}/admin/`);
  assertEquals(tab.page.url(), `${day.url}/sign-in`);
}

for (const [runtime, make] of Object.entries({ Deno: makeDenoApp, Node: makeNodeApp })) {
  test(`${runtime}: new --login has a first administrator, a member and a todo that changes`, async () => {
    await using app = await make({ login: true });
    await using database = await openDatabase();
    const env = { MONGODB_URI: database.uri };
    await using started = await app.start(env);
    await using chromium = await startChromium();
    const day = new FirstDay(app, started.url);
    await using boss = await openTab(chromium, started.url);
    await refuse(day, boss);
    const port = new URL(started.url).port;
    const made = await app.run("make-admin", ["Boss@acme.example"], { ...env, PORT: port });
    const [link = ""] = /http:\S+/.exec(made) ?? [];
    await day.enter(boss, { link, email: "boss@acme.example" });
    await boss.until("main p", ["Ann, administrator of acme.example"]);
    await change(day, boss);
    await using member = await openTab(chromium, started.url);
    await invite(day, boss, member);
    await reset(day, member);
    const complaints = [boss, member].flatMap((tab) => tab.complaints);
    assertEquals(complaints.filter((text) => !EXPECTED.test(text)), []);
    assertEquals([...boss.foreign, ...member.foreign], []);
  });
}
