import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { buildApp } from "../../examples/movies/app.ts";
import { seed } from "../../examples/movies/seed.ts";
import { buildTextApp } from "./support/text_app.ts";
import { test } from "../harness/testing.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { openExample } from "./support/example.ts";
import { openPythonClient } from "./support/python_tools.ts";

const MAIN = `import json
from movies_client import Client
from movies_client.api.movie import create_movies, update_movies
from movies_client.models import MovieNew, MoviePatch

client = Client(base_url="http://127.0.0.1:3000", headers={"authorization": "demo-key"})
movie = create_movies.sync(client=client, body=MovieNew(name="Ran", description="An old lord"))
update_movies.sync(movie.field_id, client=client, body=MoviePatch(year=1985))
from movies_client.api.movie import all_movies, one_movies, remove_movies
from movies_client.models import AllMoviesSortItem

order = [AllMoviesSortItem("-year"), AllMoviesSortItem("name")]
newest = all_movies.sync(client=client, sort=order, limit=2)
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

const GENERATE =
  "generate --meta none --url http://127.0.0.1:3000/openapi.json --output-path movies_client";

/** Generates a client of an application, and gives what a program prints that uses it. */
async function runWith(build: typeof buildApp, program: string): Promise<unknown> {
  await using app = await openExample({ buildApp: build, seed });
  const { env } = await openPythonClient();
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-python-" });
  const local = (text: string) => text.replaceAll("http://127.0.0.1:3000", app.url);
  try {
    const args = ["-m", "openapi_python_client", ...local(GENERATE).split(" ")];
    const output = await runCommand("python3", args, { cwd, env });
    assert(output.startsWith("Generating movies_client"), output);
    // The generator leaves out routes whose bodies are pictures.
    const warnings = [...output.matchAll(/^WARNING parsing (.*) within/gm)].map(([, route]) =>
      route
    );
    assertEquals(new Set(warnings), new Set(["PUT /movies/{id}/poster"]));
    await Deno.writeTextFile(join(cwd, "main.py"), local(program));
    const own = { ...env, PYTHONPATH: `${cwd}:${env.PYTHONPATH}` };
    return JSON.parse(await runCommand("python3", ["main.py"], { cwd, env: own }));
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

test("openapi-python-client gives a client that works", async () => {
  assertEquals(await runWith(buildApp, MAIN), {
    created: ["Movie", "Ran"],
    newest: ["Nomadland", "Parasite"],
    changed: 1985,
    removed: 204,
    gone: [404, "NOT_FOUND"],
  });
});

test("openapi-python-client gives functions with q, where q is written as a text", async () => {
  const program = `import json
from movies_client import Client
from movies_client.api.movie import all_movies

client = Client(base_url="http://127.0.0.1:3000")
found = all_movies.sync(client=client, q=json.dumps({"year": 1979}))
print(json.dumps([movie.year for movie in found]))
`;
  const years = await runWith(buildTextApp, program) as number[];
  assertEquals([...new Set(years)], [1979]);
});
