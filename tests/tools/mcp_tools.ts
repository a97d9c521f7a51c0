import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { buildApp } from "../../examples/helpdesk/app.ts";
import { seed } from "../../examples/helpdesk/seed.ts";
import { test } from "../harness/testing.ts";
import { tryCommand } from "../reach/support/run_command.ts";
import { openExample } from "./support/example.ts";

/** Runs the inspector's command line with a home of its own: it would keep what it has seen in that of the user. */
async function inspect(url: string, args: readonly string[]) {
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-inspector-" });
  const { HOME = "", NPM_CONFIG_CACHE = join(HOME, ".npm") } = Deno.env.toObject();
  const inspector = ["-y", "@modelcontextprotocol/inspector@2", "--cli", `${url}/mcp`];
  const given = ["--transport", "http", "--header", "authorization: Bearer cem", ...args];
  const output = join(cwd, "output.json");
  try {
    const { code, output: told } = await tryCommand(
      "npx",
      [...inspector, ...given, "--output", output],
      { cwd, env: { HOME: cwd, NPM_CONFIG_CACHE } },
    );
    const text = await Deno.readTextFile(output).catch(() => {
      throw new Error(`The inspector ended with ${code}: ${told}`);
    });
    return JSON.parse(text);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

test("the inspector's command line lists the tools of a help desk, and calls them", async () => {
  await using desk = await openExample({ buildApp, seed });
  const { tools } = await inspect(desk.url, ["--method", "tools/list"]);
  assertEquals(
    tools.map(({ name }: { readonly name: string }) => name),
    ["describe", "list", "read", "create", "update", "action"],
  );
  const call = async (name: string, args: object) => {
    const given = ["--tool-name", name, "--tool-args-json", JSON.stringify(args)];
    const { structuredContent } = await inspect(desk.url, ["--method", "tools/call", ...given]);
    return structuredContent;
  };
  const [{ entities }, refused] = await Promise.all([
    call("list", { model: "Ticket", q: { state: "open" } }),
    call("list", { model: "Ticket", q: { note: "third" } }),
  ]);
  const headers = { authorization: "Bearer cem" };
  assertEquals(entities, (await desk.get('/tickets?q={"state":"open"}', { headers })).body);
  assertEquals([refused.status, refused.error.code], [400, "BAD_FORMAT"]);
});
