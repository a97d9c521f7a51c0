import { assert, assertEquals } from "@std/assert";
import type { Express } from "express";
import type { RequestListener } from "node:http";
import { buildApp as buildChat } from "../../examples/chat/app.ts";
import { buildApp as buildClinic } from "../../examples/clinic/app.ts";
import { buildApp as buildCluster } from "../../examples/cluster/app.ts";
import { buildApp as buildHelpdesk } from "../../examples/helpdesk/app.ts";
import { buildApp as buildLibrary } from "../../examples/library/app.ts";
import { buildApp as buildMovies } from "../../examples/movies/app.ts";
import { app as notes } from "../../examples/notes/app.ts";
import { app as reviews } from "../../examples/reviews/app.ts";
import { app as appointments } from "../../examples/rules/appointments.ts";
import { app as bookings } from "../../examples/rules/bookings.ts";
import { app as places } from "../../examples/rules/places.ts";
import { app as stock } from "../../examples/rules/stock.ts";
import { ANY_ID, PATH_PARAMETER } from "../../src/describe/paths.ts";
import { mountedEndpoints, mountedRoutes } from "../../src/host/initialize.ts";
import { filesOf } from "../../src/new/template.ts";
import { actingLevel } from "../../src/pipeline/request/route.ts";
import { openDatabase } from "../harness/database.ts";
import { request } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { start } from "../support/support.ts";
import { withTasks } from "../support/with_tasks.ts";
import { importApp } from "./recipes/open_recipe.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { readSteps } from "./tutorial/read_steps.ts";

const ROOT = new URL("../../", import.meta.url);

/** A layer of an Express application. */
interface Layer {
  readonly handle: object;
  match(path: string): false | { readonly path: string };
}

const BASES = ["", "/admin", "/api", "/v1"];

/** The routers of an application, each with the path where it is mounted. */
function routersOf(app: RequestListener) {
  const { stack } = (app as Express).router as unknown as { stack: Layer[] };
  return stack.flatMap((layer) => {
    const routes = mountedRoutes(layer.handle);
    if (routes === undefined) return [];
    const base = BASES.find((base) => Object(layer.match(`${base}/x`)).path === base);
    assert(base !== undefined, `A router is not mounted at ${BASES}`);
    return { base, routes, endpoints: mountedEndpoints(layer.handle) };
  });
}

/** Sends all operations of an application as nobody, and returns those that are neither refused nor declared open. */
async function passNobody(app: RequestListener): Promise<string[]> {
  await using _database = await openDatabase(await sharedReplicaSet());
  const served = await start(app);
  const passed: string[] = [];
  let sent = 0;
  const send = async (verb: string, path: string) => {
    sent++;
    const method = verb.toUpperCase();
    const hasBody = ["POST", "PATCH", "PUT"].includes(method);
    const url = `${served.url}${path.replaceAll(PATH_PARAMETER, ANY_ID)}`;
    const { status } = await request(url, { method, ...hasBody && { body: {} } });
    if (![401, 403].includes(status)) passed.push(`${method} ${path}: ${status}`);
  };
  try {
    for (const { base, routes, endpoints } of routersOf(app)) {
      assert(routes.every(({ strict }) => Object.values(strict).every(Boolean)), "not strict");
      for (const route of routes) {
        if (!actingLevel(route).isOpen) await send(route.operation.verb, base + route.path);
      }
      const isGuarded = routes.some(({ guard }) => guard !== undefined);
      for (const { method, path } of isGuarded ? endpoints : []) await send(method, base + path);
      assert(!isGuarded || sent > 0);
    }
  } finally {
    await served.stop();
  }
  return passed;
}

const EXAMPLES: Readonly<Record<string, () => Express>> = {
  chat: () => buildChat(""),
  clinic: buildClinic,
  cluster: buildCluster,
  helpdesk: buildHelpdesk,
  library: buildLibrary,
  movies: buildMovies,
  notes: () => notes,
  reviews: () => reviews,
  "rules/appointments": () => appointments,
  "rules/bookings": () => bookings,
  "rules/places": () => places,
  "rules/stock": () => stock,
};

for (const [name, buildApp] of Object.entries(EXAMPLES)) {
  test(`examples/${name} lets nobody pass but where it is open`, async () => {
    assertEquals(await passNobody(buildApp()), []);
  });
}

/** Refuses everybody, as the logins of the page do without a session or a token. */
const LOGIN = `
import { RestError } from "@mongrove/mongrove";
export function signedIn() {
  throw new RestError(401, { code: "UNAUTHENTICATED" });
}
export function mountLogin() {}
`;

/** What the pages of a login import, without better-auth and its packages. */
const STUBS = {
  "login.ts": LOGIN,
  "pages.ts": `import { signedIn } from "./login.ts";
export const askToSignIn = signedIn;
export function mountPages() {}
`,
  "mail.ts": `export const appUrl = new URL("http://127.0.0.1");
export function mail() {}
`,
};

/** Pages whose steps make one application. In the tutorial, all imported models are mounted, also those of other pages. */
const GROWING: Readonly<Record<string, (code: string) => string>> = {
  "docs/login.md": (code) => code,
  "docs/tracker.md": withTasks,
  "docs/tutorial.md": (code) =>
    code.replace('import "./movie.ts"', 'import { Movie } from "./movie.ts"')
      .replace("{ strict", "{ models: [Movie], strict"),
};

type Files = Readonly<Record<string, string>>;

/** The files of `new --login` that the pages of a login name and do not show. */
function loginModels(): Files {
  const made = filesOf("app", { runtime: "deno", login: true });
  const names = ["app.ts", "todo.ts", "user.ts", "invitation.ts", "page.ts"];
  return Object.fromEntries(names.map((name) => [name, made[name] ?? ""]));
}

/** The applications of a page: the files of each step with an `app.ts`, with those of the steps before. */
async function applicationsOf(page: string): Promise<{ title: string; files: Files }[]> {
  const steps = readSteps(await Deno.readTextFile(new URL(page, ROOT)));
  const grow = GROWING[page];
  let all: Files = {};
  const grown = steps.map(({ title, files }) => {
    all = { ...all, ...files };
    return { title, files: all, isOne: files["app.ts"]?.includes("Framework.initialize(") };
  });
  if (grow === undefined) return grown.filter(({ isOne }) => isOne);
  all = { ...loginModels(), ...all };
  return [{ title: "", files: { ...all, "app.ts": grow(all["app.ts"] ?? ""), ...STUBS } }];
}

const docs = (await Array.fromAsync(Deno.readDir(new URL("docs/", ROOT))))
  .filter(({ name }) => name.endsWith(".md"))
  .map(({ name }) => `docs/${name}`);
const [{ files: login } = { files: {} }] = await applicationsOf("docs/login.md");

for (const page of [...docs.sort(), "SKILL.md"]) {
  for (const { title, files } of await applicationsOf(page)) {
    test(`${page} lets nobody pass but where it is open: ${title}`, async () => {
      const code = files["app.ts"] ?? "";
      assert(/Framework\.initialize\([^;]*\bstrict: true\b/.test(code), "not strict");
      if (!/Framework\.initialize\([^;]*\bguard\b/.test(code)) return;
      await using project = await makeProject();
      await project.write({ ...login, ...files });
      assertEquals(await passNobody(await importApp(project)), []);
    });
  }
}
