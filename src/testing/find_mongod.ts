import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** A `mongod`, in the form of the option `binary` of mongodb-memory-server. */
export interface InstalledMongod {
  readonly systemBinary: string;
  readonly version: string;
}

/** The oldest supported major version of MongoDB. */
const OLDEST = 6;

const FILE = process.platform === "win32" ? "mongod.exe" : "mongod";

/**
 * Returns the first supported `mongod` on `PATH`. If `MONGOMS_SYSTEM_BINARY` or `MONGOMS_VERSION` is set,
 * mongodb-memory-server finds or downloads a `mongod` itself.
 */
export async function findMongod(): Promise<InstalledMongod | undefined> {
  const { PATH = "", MONGOMS_SYSTEM_BINARY, MONGOMS_VERSION } = process.env;
  if (MONGOMS_SYSTEM_BINARY || MONGOMS_VERSION) return undefined;
  for (const folder of PATH.split(delimiter)) {
    const systemBinary = join(folder, FILE);
    const version = folder === "" ? undefined : await readVersion(systemBinary);
    if (version !== undefined && parseInt(version) >= OLDEST) return { systemBinary, version };
  }
  return undefined;
}

async function readVersion(path: string): Promise<string | undefined> {
  try {
    await access(path);
    const { stdout } = await promisify(execFile)(path, ["--version"]);
    return /db version v(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
