import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { withDatabase } from "../harness/database_uri.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { test } from "../harness/testing.ts";
import { runCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes } = openWorkspace();

/** Follows a change, fails once, and ends by itself. */
const MAIN = `import process from "node:process";
import mongoose from "mongoose";
import { FrameworkModel, getModel, prop } from "@mongrove/mongrove";
import { follow } from "@mongrove/mongrove/changes";

class Note extends FrameworkModel {
  @prop()
  text?: string;
}

await mongoose.connect(process.env.MONGODB_URI ?? "");
await getModel(Note).init();
let done: () => void = () => {};
const handled = new Promise<void>((resolve) => done = resolve);
{
  await using follower = follow(Note, {
    name: "reach",
    retry: { pauseMS: 10 },
    async handle({ kind, entity, attempt }) {
      const text: string | undefined = (await entity())?.text;
      if (attempt === 1) throw new Error("Not now");
      console.log(kind, text, attempt);
      done();
    },
  });
  while (await follower.lag() === undefined) await new Promise((go) => setTimeout(go, 20));
  await getModel(Note).create({ text: "hello" });
  await handled;
}
await mongoose.disconnect();
`;

const RUN = ["run", "--quiet", "--no-prompt", "--allow-env", "--allow-net", "--allow-sys"];

const RUNTIMES = [
  { name: "Deno", cwd: denoProject, command: [Deno.execPath(), ...RUN] },
  ...nodes.map(({ version, path }) => ({
    ...{ name: `Node ${version}`, cwd: nodeProject },
    command: [path, "--import", "tsx"],
  })),
];

for (const { name, cwd, command: [program = "", ...args] } of RUNTIMES) {
  test(`${name} follows changes with the package from JSR, and ends`, async () => {
    await using mongo = await startMongo({ replicaSet: 1 });
    await Deno.writeTextFile(join(cwd, "follow.ts"), MAIN);
    const env = { ...denoEnv, MONGODB_URI: withDatabase(mongo.uri, "reach") };
    const output = await runCommand(program, [...args, "follow.ts"], { cwd, env });
    assertEquals(output.trim(), "insert hello 2");
  });
}
