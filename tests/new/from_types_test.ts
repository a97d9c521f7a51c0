import { createApp } from "../../src/new/mod.ts";
import { makeProject } from "../docs/tutorial/make_project.ts";
import { storeOdd } from "../fixtures/odd_database.ts";
import { openDatabase } from "../harness/database.ts";
import { longTest } from "../harness/testing.ts";
import { runCommand } from "../reach/support/run_command.ts";

longTest(
  "new --from writes models of odd data in both forms, which compile and have a format",
  async () => {
    await using project = await makeProject();
    await using database = await openDatabase();
    await storeOdd(database.connection);
    for (const plain of [false, true]) {
      await createApp(`${project.folder}/${plain}`, { from: database.uri, plain, runtime: "node" });
    }
    const options = { cwd: project.folder, env: {} };
    const fmt = ["fmt", "--check", "--no-config", "--line-width=100", "--ext=ts"];
    const files = ["true", "false"].flatMap((name) => [`${name}/models.ts`, `${name}/models`]);
    await runCommand(Deno.execPath(), [...fmt, ...files], options);
    const check = ["check", "--quiet", "--no-lock"];
    const config = `--config=${project.folder}/deno.json`;
    const checked = ["true", "false"].map((name) => `${name}/app.ts`);
    await runCommand(Deno.execPath(), [...check, config, ...checked], options);
  },
);
