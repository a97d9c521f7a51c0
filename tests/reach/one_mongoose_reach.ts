import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { readTestableApp } from "./support/readme.ts";
import { runCommand, tryCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes } = openWorkspace();

/** Connects another copy of Mongoose, and asks the application; tells the status and how long it took. */
const MAIN = `import mongoose from "mongoose-other";
import { serve } from "@mongrove/mongrove/testing";
import { getModel } from "@mongrove/mongrove";
import process from "node:process";
import { app, Todo } from "./app.ts";

await mongoose.connect(process.env.MONGODB_URI ?? "");
try {
  getModel(Todo, mongoose.connection as never);
} catch (error) {
  console.log(String(error));
}
const served = await serve(app);
const start = Date.now();
const { status } = await fetch(served.url + "/todos");
console.log(status, Date.now() - start < 7000);
await served.stop();
await mongoose.disconnect();
`;

async function writeProject(folder: string): Promise<void> {
  await Deno.writeTextFile(join(folder, "app.ts"), await readTestableApp());
  await Deno.writeTextFile(join(folder, "other.ts"), MAIN);
}

/** The answer comes soon, and the log says why there is none, once. */
function assertExplained({ code, output }: { code: number; output: string }): void {
  assertEquals(code, 0, output);
  assert(output.includes("503 true"), output);
  assertMatch(
    output,
    /TypeError: Cannot use the connection: it belongs to another copy of Mongoose \(8\./,
  );
  assertMatch(output, /mongoose\.connect\(\) was not called on Mongrove's copy of Mongoose \(9\./);
  assertEquals(output.match(/Cannot reach the database/g)?.length, 1);
}

test("another major of Mongoose is explained on Node", async () => {
  await using database = await openDatabase();
  const cwd = nodeProject;
  await writeProject(cwd);
  const name = "mongoose-other@npm:mongoose@8";
  await runCommand("npm", ["install", "--no-audit", "--no-fund", name], { cwd });
  const env = { MONGODB_URI: database.uri };
  const args = ["--import", "tsx", "other.ts"];
  assertExplained(await tryCommand(nodes[0].path, args, { cwd, env }));
});

test("another major of Mongoose is explained on Deno", async () => {
  await using database = await openDatabase();
  const cwd = denoProject;
  await writeProject(cwd);
  const main = join(cwd, "other.ts");
  await Deno.writeTextFile(main, MAIN.replace('"mongoose-other"', '"npm:mongoose@8"'));
  const env = { ...denoEnv, MONGODB_URI: database.uri };
  assertExplained(await tryCommand(Deno.execPath(), ["run", "-A", main], { cwd, env }));
});
