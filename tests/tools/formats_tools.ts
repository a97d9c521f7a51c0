import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { join } from "node:path";
import { rowsOf } from "../support/csv.ts";
import { difficult, mountFormats } from "../fixtures/formats.ts";
import { openDatabase } from "../harness/database.ts";
import { report } from "../harness/report.ts";
import { longTest, test } from "../harness/testing.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { openPythonTool } from "./support/python_tools.ts";

/** Writes a list as files of each format, for the time of a function. */
async function withFiles(
  run: (files: {
    readonly cwd: string;
    readonly json: Record<string, unknown>[];
    readonly table: Record<string, string | null>[];
  }) => Promise<void>,
): Promise<void> {
  await using app = await mountFormats(difficult());
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-formats-" });
  const path = "/bare?populate=owner";
  const [lines, table] = await Promise.all(
    ["application/x-ndjson", "text/csv"].map((accept) => app.get(path, { headers: { accept } })),
  );
  try {
    await Deno.writeTextFile(join(cwd, "list.ndjson"), lines?.text ?? "");
    await Deno.writeTextFile(join(cwd, "list.csv"), table?.text ?? "");
    await run({ cwd, json: await app.read(path), table: rowsOf(table?.text ?? "") });
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

test("jq reads the lines of a list", () =>
  withFiles(async ({ cwd, json }) => {
    const read = await runCommand("jq", ["-c", ".", "list.ndjson"], { cwd });
    assertEquals(read.split("\n").map((line) => JSON.parse(line)), json);
  }));

const DUCKDB = `
import csv, duckdb, json
db = duckdb.connect()
def rows(sql):
    found = db.sql(sql)
    return [dict(zip(found.columns, row)) for row in found.fetchall()]
texts = "header = true, all_varchar = true, allow_quoted_nulls = false, strict_mode = true"
with open("list.csv", newline="", encoding="utf-8") as file:
    python = list(csv.DictReader(file, strict=True))
print(json.dumps({
    "csv": rows(f"FROM read_csv('list.csv', {texts})"),
    "guessed": [row["rank"] for row in rows("FROM read_csv('few.csv')")],
    "names": [row["name"] for row in rows("FROM read_json('list.ndjson', columns = {name: 'JSON'})")],
    "python": python,
}))
`;

test("DuckDB and Python read the table and the lines of a list", () =>
  withFiles(async ({ cwd, json, table }) => {
    const { env } = await openPythonTool("duckdb==2.0.0");
    await Deno.writeTextFile(join(cwd, "main.py"), DUCKDB);
    await Deno.writeTextFile(join(cwd, "few.csv"), "_id,rank\r\na,1\r\nb,-2.5\r\nc,\r\n");
    const read = JSON.parse(await runCommand("python3", ["main.py"], { cwd, env }));
    assertEquals(read.csv, table);
    assertEquals(read.guessed, [1, -2.5, null]);
    const names = read.names.map((name: string | null) => name === null ? name : JSON.parse(name));
    assertEquals(names, json.map(({ name }) => name ?? null));
    // Python has no word for what is missing
    const filled = table.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, cell ?? ""]))
    );
    assertEquals(read.python, filled);
  }));

/** Tells whether LibreOffice is there. Without it, the start of the command throws at once. */
async function findOffice(): Promise<boolean> {
  try {
    return (await new Deno.Command("soffice", { args: ["--version"] }).output()).success;
  } catch {
    return false;
  }
}

const hasOffice = await findOffice();

Deno.test({
  name: "LibreOffice finds no formula in the table of a list",
  ignore: !hasOffice,
  fn: () =>
    withFiles(async ({ cwd, table }) => {
      const convert = async (name: string) => {
        // Text fields are evaluated as if they were typed in
        const filter = "--infilter=CSV:44,34,76,1,,0,false,true,true,false";
        const args = [`-env:UserInstallation=file://${cwd}/office`, "--headless", filter];
        await runCommand("soffice", [...args, "--convert-to", "fods", name], { cwd });
        return await Deno.readTextFile(join(cwd, name.replace("csv", "fods")));
      };
      const sheet = await convert("list.csv");
      assert(!sheet.includes("table:formula"));
      const cities = table.filter((row) => row["place.city"] === "'-Paris").length;
      assert(cities > 0 && sheet.includes("-Paris"));
      await Deno.writeTextFile(join(cwd, "bad.csv"), "a\r\n=1+1\r\n");
      assert((await convert("bad.csv")).includes("table:formula"));
    }),
});

interface Usage {
  /** The resident memory, in MB. */
  readonly memory: number;
  /** The time on the processor, in seconds. */
  readonly time: number;
}

async function usageOf(pid: number): Promise<Usage> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const stat = (await Deno.readTextFile(`/proc/${pid}/stat`)).split(") ")[1]?.split(" ") ?? [];
  const memory = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1000;
  return { memory, time: (Number(stat[11]) + Number(stat[12])) / 100 };
}

const COUNT = 1_000_000;

async function store(): Promise<void> {
  const movies = mongoose.connection.collection("movies");
  for (let start = 0; start < COUNT; start += 10_000) {
    await movies.insertMany(Array.from({ length: 10_000 }, (_, index) => ({
      ...{ name: `Movie ${start + index}`, year: 1900 + index % 120, rating: index / 7 },
      plot: "A plot of some words that is not very long, with a comma",
      ...{ seen: index % 2 === 0, released: new Date(1e12 + index * 1e7), __v: 0 },
      place: { city: "Paris", lat: index / 3 },
    })));
  }
}

/** Reads a list, and tells what that costs the process that serves it: the most memory, and the time. */
async function costOf(
  pid: number,
  { url, accept }: { url: string; accept: string },
): Promise<Usage> {
  const before = await usageOf(pid);
  let memory = 0;
  const look = async () => memory = Math.max(memory, (await usageOf(pid)).memory);
  const timer = setInterval(look, 50);
  const curl = ["-s", "-o", "/dev/null", "-w", "%{size_download}", "-H", `accept: ${accept}`, url];
  const size = await runCommand("curl", curl, { cwd: "/" });
  clearInterval(timer);
  const time = (await usageOf(pid)).time - before.time;
  await report(`${accept}: ${size} bytes, ${time.toFixed(2)} s, ${Math.round(memory)} MB`);
  return { memory, time };
}

const TYPES = ["application/json", "application/x-ndjson", "text/csv"];

longTest("a million entities take less than 200 MB in each format", async () => {
  await using database = await openDatabase();
  await store();
  const script = new URL("support/formats_server.ts", import.meta.url).href;
  const args = ["run", "-A", "--no-check", script, database.uri];
  await using server = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  const output = server.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const url = `${(await output.read()).value?.trim()}/movies`;
  const idle = await usageOf(server.pid);
  await report(`idle: ${Math.round(idle.memory)} MB`);
  const best = new Map<string, number>();
  for (const accept of [...TYPES, ...TYPES, ...TYPES]) {
    const { memory, time } = await costOf(server.pid, { url, accept });
    assert(memory - idle.memory < 200, `${accept}: ${memory - idle.memory} MB`);
    best.set(accept, Math.min(time, best.get(accept) ?? Infinity));
  }
  const [json = 1, ...others] = TYPES.map((type) => best.get(type) ?? 0);
  await report(`beside JSON: ${others.map((time) => (time / json).toFixed(2)).join(", ")}`);
  server.kill();
});
