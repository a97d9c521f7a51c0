import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { test } from "../harness/testing.ts";
import { runCommand } from "./support/run_command.ts";
import { openWorkspace } from "./support/workspace.ts";

const { denoProject, denoEnv, nodeProject, nodes } = openWorkspace();

/** Serves the page, loads it and its script, and ends by itself. */
const MAIN = `import express from "express";
import { all, Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";
import { admin } from "@mongrove/mongrove/admin";
import { serve } from "@mongrove/mongrove/testing";

@rest({ route: "/notes", methods: [all()] })
class Note extends FrameworkModel {
  @prop()
  text?: string;
}

const app = express();
app.use(express.json());
const api = Framework.initialize({ models: [Note] });
app.use(api);
app.use("/admin", admin(api, { title: "Notes" }));
const served = await serve(app);
const load = async (path: string) => {
  const answer = await fetch(served.url + path);
  return [answer.status, await answer.text()] as const;
};
const [status, html] = await load("/admin/");
const script = /src="([^"]+)"/.exec(html)?.[1] ?? "none";
const [scriptStatus, text] = await load("/admin/" + script);
const [, routes] = await load("/admin/routes.json");
console.log(status, scriptStatus, text.length > 100_000, JSON.parse(routes).models[0].name);
await served.stop();
process.exit();
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
  test(`${name} serves the admin page with the package from JSR`, async () => {
    await Deno.writeTextFile(
      join(cwd, "office.ts"),
      `import process from "node:process";\n${MAIN}`,
    );
    const output = await runCommand(program, [...args, "office.ts"], { cwd, env: denoEnv });
    assertEquals(output.trim().split("\n").at(-1), "200 200 true notes");
  });
}
