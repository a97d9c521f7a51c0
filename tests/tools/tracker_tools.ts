import { assertEquals } from "@std/assert";
import { parseAnswer } from "../docs/tutorial/parse_answer.ts";
import { readSteps } from "../docs/tutorial/read_steps.ts";
import { Rehearsal } from "../docs/tutorial/rehearsal.ts";
import { test } from "../harness/testing.ts";
import { withTasks } from "../support/with_tasks.ts";
import { startChromium } from "./support/chromium.ts";
import {
  filesOfLogin,
  filesOfPage,
  openLoginApp,
  SESSION_SETTINGS,
  sessionsOf,
} from "./support/login_app.ts";

const PAGE = "docs/tracker.md";
const steps = readSteps(await Deno.readTextFile(new URL(`../../${PAGE}`, import.meta.url)));

/** Starts the tracker with the users of the page. */
async function openTracker() {
  const { "todo.ts": _todo, "app.test.ts": _test, ...files } = filesOfLogin();
  const own = await filesOfPage(PAGE, steps.map(({ title }) => title));
  const { "app.ts": code = "" } = files;
  const app = await openLoginApp(
    { ...files, ...own, "app.ts": withTasks(code) },
    SESSION_SETTINGS,
  );
  const sessions = sessionsOf(app);
  const jars = new Map<string, string>();
  for (const email of ["ann@acme.example", "cem@acme.example", "bob@bell.example"]) {
    const name = email.slice(0, 3);
    jars.set(name, (await sessions.enter(email)).headers.cookie);
  }
  await sessions.users.updateOne({ email: "ann@acme.example" }, { $set: { role: "admin" } });
  return { app, jars };
}

type Tracker = Awaited<ReturnType<typeof openTracker>>;

async function playTurns({ app, jars }: Tracker, t: Deno.TestContext): Promise<void> {
  const rehearsal = new Rehearsal(jars);
  for (const { title, turns } of steps.filter(({ turns }) => turns.length > 0)) {
    await t.step(title, async () => {
      for (const { line, answer, headers } of turns) {
        const given = parseAnswer(await rehearsal.play(app.url, line, answer));
        assertEquals(given, parseAnswer(answer), line);
        assertEquals(rehearsal.headers(headers), headers, line);
      }
    });
  }
}

const RUN = ["-A", "--quiet", "--no-lock", "--no-check"];

/** Runs the board, and ends the only task when the board has shown it. */
async function playBoard({ app, jars }: Tracker): Promise<void> {
  const headers = { cookie: jars.get("cem") ?? "" };
  const board = new Deno.Command(Deno.execPath(), {
    args: ["run", ...RUN, "board.ts", app.url, headers.cookie],
    cwd: app.folder,
    stdout: "piped",
  }).spawn();
  const shown: string[] = [];
  for await (const text of board.stdout.pipeThrough(new TextDecoderStream())) {
    shown.push(...text.trim().split("\n"));
    if (shown.length > 1) continue;
    const [task] = await app.read<[{ readonly _id: string }]>("/tasks", { headers });
    await app.updated(`/tasks/${task._id}`, { state: "done" }, { headers });
  }
  assertEquals([(await board.status).code, shown], [0, ["doing: Buy fuel", "nothing to do"]]);
}

/** Opens the page as a user, and returns the buttons above its projects and the file of its task. */
async function playAdmin({ app, jars }: Tracker, name: string) {
  await using chromium = await startChromium();
  const [cookie = "", value = ""] = (jars.get(name) ?? "").split(/=(.*)/);
  await chromium.context.setCookie({ name: cookie, value, domain: "127.0.0.1", path: "/" });
  const { page } = await chromium.open(`${app.url}/admin/#/projects`);
  await page.setViewport({ width: 1280, height: 900 });
  await page.waitForSelector("tbody ::-p-text(Moon)");
  const buttons = await page.$$eval(
    "#main-content a, #main-content button",
    (found) =>
      found.map(({ textContent }) => textContent).filter((text) => /^(Add|Trash)$/.test(text)),
  );
  await page.goto(`${app.url}/admin/#/tasks`);
  await page.locator("tbody ::-p-text(Buy fuel)").click();
  await page.waitForSelector("section[aria-label=Checklist] ::-p-text(Ask for a price)");
  const link = await page.waitForSelector("section[aria-label=Attachments] a");
  return [...buttons, await link?.evaluate(({ textContent }) => textContent)];
}

test("docs/tracker.md shows what its application answers, and its board runs", async (t) => {
  const tracker = await openTracker();
  await using _app = tracker.app;
  await playTurns(tracker, t);
  await t.step("A live board", () => playBoard(tracker));
  await t.step("An admin page", async () => {
    assertEquals(await playAdmin(tracker, "ann"), ["Trash", "Add", "file"]);
    assertEquals(await playAdmin(tracker, "cem"), ["file"]);
  });
});
