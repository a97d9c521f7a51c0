import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { buildApp } from "../../examples/movies/app.ts";
import { seed } from "../../examples/movies/seed.ts";
import { test } from "../harness/testing.ts";
import { blockBelow, readRepository } from "../reach/support/readme.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { openExample } from "./support/example.ts";
import { openPythonClient } from "./support/python_tools.ts";

const page = await readRepository("docs/openapi.md");

/** The program of the page, and what goes on with the movie that it makes. */
const MAIN = `${blockBelow(page, "Python", "python")}
import json
from movies_client.api.movie import all_movies, one_movies, remove_movies
from movies_client.models import AllMoviesSortItem

newest = all_movies.sync(client=client, sort=[AllMoviesSortItem("-year")], limit=2)
changed = one_movies.sync(movie.field_id, client=client)
removed = remove_movies.sync_detailed(movie.field_id, client=client)
gone = one_movies.sync_detailed(movie.field_id, client=client)
print(json.dumps({
    "created": [type(movie).__name__, movie.name],
    "newest": [each.name for each in newest],
    "changed": changed.year,
    "removed": removed.status_code,
    "gone": [gone.status_code, gone.parsed.code],
}))
`;

/** The arguments of the generator, as the page has them. */
const [, GENERATE = ""] = /^openapi-python-client (.*)$/m.exec(blockBelow(page, "Python", "sh")) ??
  [];

test("openapi-python-client gives a client with which the program of docs/openapi.md works", async () => {
  await using app = await openExample({ buildApp, seed });
  const { env } = await openPythonClient();
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-python-" });
  const local = (text: string) => text.replaceAll("http://127.0.0.1:3000", app.url);
  try {
    const args = ["-m", "openapi_python_client", ...local(GENERATE).split(" ")];
    assertEquals(await runCommand("python3", args, { cwd, env }), "Generating movies_client");
    await Deno.writeTextFile(join(cwd, "main.py"), local(MAIN));
    const own = { ...env, PYTHONPATH: `${cwd}:${env.PYTHONPATH}` };
    assertEquals(JSON.parse(await runCommand("python3", ["main.py"], { cwd, env: own })), {
      created: ["Movie", "Ran"],
      newest: ["Nomadland", "Parasite"],
      changed: 1985,
      removed: 204,
      gone: [404, "NOT_FOUND"],
    });
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});
