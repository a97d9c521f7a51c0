import { assert, assertEquals } from "@std/assert";
import express from "express";
import { Framework, getModel } from "@mongrove/mongrove";
import { openapi } from "@mongrove/mongrove/openapi";
import * as helpdesk from "../../examples/helpdesk/app.ts";
import { seed as seedHelpdesk } from "../../examples/helpdesk/seed.ts";
import * as library from "../../examples/library/app.ts";
import { KEY } from "../../examples/library/keep_locked.ts";
import { seed as seedLibrary } from "../../examples/library/seed.ts";
import * as movies from "../../examples/movies/app.ts";
import { SECRET_KEY } from "../../examples/movies/hooks/authenticated.ts";
import { seed as seedMovies } from "../../examples/movies/seed.ts";
import { Client, Ticket } from "../fixtures/help_desk.ts";
import { test } from "../harness/testing.ts";
import { tryCommand } from "../reach/support/run_command.ts";
import { type Example, openExample } from "./support/example.ts";
import { openSchemathesis } from "./support/python_tools.ts";
import { isLong, report } from "../harness/report.ts";

/** An example, and the header that opens what it guards. */
interface Guarded extends Example {
  readonly header: string;
}

/** Builds an application with a model of many fields and embedded parts, whose filters are large. */
function buildHelpDesk() {
  const api = Framework.initialize({ models: [Ticket, Client] });
  const described = openapi(api, { info: { title: "Help desk", version: "1" } });
  return express().use(express.json(), api, described, Framework.errors());
}

const EXAMPLES: Readonly<Record<string, Guarded>> = {
  ...isLong && {
    library: { buildApp: library.buildApp, seed: seedLibrary, header: `x-key: ${KEY}` },
    "a help desk": {
      buildApp: buildHelpDesk,
      seed: async () => void await getModel(Ticket).create({ subject: "No sound" }),
      header: "x-key: none",
    },
  },
  movies: {
    buildApp: movies.buildApp,
    seed: seedMovies,
    header: `authorization: ${SECRET_KEY}`,
  },
  helpdesk: {
    buildApp: helpdesk.buildApp,
    seed: seedHelpdesk,
    header: "authorization: Bearer ada",
  },
};

/** What is generated: an effort, and the requests that it sends at least to all examples together. */
const EFFORT = isLong ? { examples: 50, requests: 2_000 } : { examples: 5, requests: 100 };

const FOLDER = new URL("schemathesis/", import.meta.url).pathname;

const ARGS = [
  ...["-m", "schemathesis.cli", `--config-file=${FOLDER}schemathesis.toml`, "run", "--no-color"],
  "--checks=all",
  // Express answers 404 to a method that a path does not have
  "--exclude-checks=unsupported_method",
  // Not "coverage", which tries every combination of operators in a filter: tens of thousands of requests
  "--phases=examples,fuzzing,stateful",
  ...["--seed=14", `--max-examples=${EFFORT.examples}`, "--generation-database=none"],
  // Of a busy machine, it would say that it generates too slowly
  "--suppress-health-check=data_too_large,filter_too_much,too_slow",
  ...["--no-shrink", "--continue-on-failure"],
];

/** An operation for which the tool cannot invert a schema, as it says itself. At most one may be left out. */
const BEYOND_IT = /Failed to generate test cases for this API operation\.\s+Schemathesis does not/g;

const MOST_BEYOND_IT = 1;

/** What Schemathesis complains about: its failures, and errors that are not its own. */
function complaintsIn(output: string): string[] {
  const failures = output.match(/❌ ST.*/g) ?? [];
  const errors = [...output.matchAll(/🚫 .*: (\d+)$/gm)].map(([, count]) => Number(count));
  const others = errors.reduce((sum, count) => sum + count, 0) -
    Math.min(output.match(BEYOND_IT)?.length ?? 0, MOST_BEYOND_IT);
  return [...failures, ...others === 0 ? [] : [`${others} errors`]];
}

/** Runs Schemathesis against an example; gives its output, and how many requests it generated. */
async function examine({ buildApp, seed, header }: Guarded) {
  const { env } = await openSchemathesis();
  await using app = await openExample({ buildApp, seed });
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-schemathesis-" });
  try {
    const args = [...ARGS, "--header", header, `${app.url}/openapi.json`];
    const hooks = { SCHEMATHESIS_HOOKS: `${FOLDER}hooks.py`, API: app.url, HEADER: header };
    const { output } = await tryCommand("python3", args, { cwd, env: { ...env, ...hooks } });
    return { output, requests: Number(/(\d+) generated/.exec(output)?.[1]) };
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

test("Schemathesis finds no failure in the examples", async (t) => {
  let sum = 0;
  for (const [name, example] of Object.entries(EXAMPLES)) {
    await t.step(name, async () => {
      const { output, requests } = await examine(example);
      await report(`Schemathesis: ${requests} requests to ${name}`);
      assert(requests > 0, output);
      sum += requests;
      assertEquals(complaintsIn(output), [], output);
    });
  }
  assert(sum >= EFFORT.requests, `${sum} requests`);
});
