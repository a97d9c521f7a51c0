import { assertEquals } from "@std/assert";
import { join } from "node:path";
import mongoose from "mongoose";
import { withDatabase } from "../harness/database_uri.ts";
import { longTest } from "../harness/testing.ts";
import { startApp } from "../reach/support/start_app.ts";
import { client } from "../support/client.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { readSteps } from "./tutorial/read_steps.ts";

const PAGE = new URL("../../docs/production.md", import.meta.url);

const MAIN = `
import { Framework } from "@mongrove/mongrove";
import { migrate } from "@mongrove/mongrove/work";
import express from "express";
import mongoose from "mongoose";
import process from "node:process";
import { migrations } from "./migrations.ts";
import { Ticket } from "./ticket.ts";

const app = express();
app.use(express.json());
app.use(Framework.initialize({ models: [Ticket], strict: true, guard: () => true }));
await mongoose.connect(process.env.MONGODB_URI);
await migrate(migrations.slice(0, Number(process.env.MIGRATIONS)));
app.listen(Number(process.env.PORT), "127.0.0.1");
`;

const RUN = ["run", "--quiet", "--no-lock", "--no-check", "-A"] as const;

/** The class before the first release. */
function withoutSubject(code: string): string {
  return code.replace(/\n {2}@prop\(\)\n {2}subject\?: string;\n/, "").replace(
    /\{ preSave: both \}/g,
    "",
  )
    .replace(/function both[^]*?\n\}\n/, "");
}

/** Opens a database, and starts processes of the releases of the page. */
async function openReleases() {
  await using stack = new AsyncDisposableStack();
  const { files = {} } = readSteps(await Deno.readTextFile(PAGE))
    .find(({ title }) => title === "Two releases side by side") ?? {};
  const { "ticket.ts": both = "", "ticket_3.ts": last = "", "migrations.ts": list = "" } = files;
  const { folder, write } = stack.use(await makeProject());
  for (const [release, code] of [withoutSubject(both), both, both, last].entries()) {
    await Deno.mkdir(join(folder, `r${release}`));
    const of = { "ticket.ts": code, "migrations.ts": list, "main.ts": MAIN };
    await write(
      Object.fromEntries(Object.entries(of).map(([name, text]) => [`r${release}/${name}`, text])),
    );
  }
  const uri = withDatabase(await sharedReplicaSet(), `mongrove_page_${crypto.randomUUID()}`);
  const connection = await mongoose.createConnection(uri).asPromise();
  stack.defer(async () => {
    await connection.dropDatabase();
    await connection.close();
  });
  const opened = stack.move();
  const start = async (release: number) => {
    const env = { MONGODB_URI: uri, MIGRATIONS: String(Math.max(0, release - 1)) };
    const command = [Deno.execPath(), ...RUN, `r${release}/main.ts`] as const;
    return client(opened.use(await startApp(command, { cwd: folder, env })));
  };
  return { connection, start, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

type App = Awaited<ReturnType<Awaited<ReturnType<typeof openReleases>>["start"]>>;

interface Shown {
  readonly _id: string;
  readonly title?: string;
  readonly subject?: string;
}

/** The values of a field that an application shows, in their order. */
async function shown(app: App, field: "title" | "subject") {
  const { body } = await app.get<Shown[]>("/tickets");
  return body.map((each) => each[field]).sort();
}

longTest(
  "docs/production.md renames a field in three releases, two side by side",
  async () => {
    await using releases = await openReleases();
    const { start, connection } = releases;
    const zero = await start(0);
    const a = await zero.created("/tickets", { title: "a" });
    const b = await zero.created("/tickets", { title: "b" });

    const one = await start(1);
    await one.patch(`/tickets/${a._id}`, { title: "a1" });
    await one.created("/tickets", { subject: "c" });
    await zero.patch(`/tickets/${a._id}`, { title: "a0" });
    for (const app of [zero, one]) assertEquals(await shown(app, "title"), ["a0", "b", "c"]);

    const two = await start(2);
    assertEquals(await shown(two, "subject"), ["a0", "b", "c"]);
    await one.patch(`/tickets/${b._id}`, { title: "b1" });
    await two.patch(`/tickets/${a._id}`, { subject: "a2" });
    assertEquals(await shown(one, "title"), ["a2", "b1", "c"]);
    assertEquals(await shown(two, "subject"), ["a2", "b1", "c"]);

    const three = await start(3);
    const tickets = connection.collection("tickets");
    assertEquals(await tickets.countDocuments({ title: { $exists: true } }), 0);
    await two.patch(`/tickets/${a._id}`, { subject: "a3" });
    await three.patch(`/tickets/${b._id}`, { subject: "b3" });
    for (const app of [two, three, await start(2)]) {
      assertEquals(await shown(app, "subject"), ["a3", "b3", "c"]);
    }
    assertEquals((await three.get<Shown[]>("/tickets")).text.includes("title"), false);
  },
);
