import type { ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

/**
 * The type of the part of mongodb-memory-server that `startMongo()` uses. An import of the package's types would make
 * the package a dependency of every application on Node.
 */
export interface MemoryServerPackage {
  readonly MongoMemoryServer: { create(options: object): Promise<MemoryServer> };
  readonly MongoMemoryReplSet: { create(options: object): Promise<MemoryServer> };
}

/**
 * A MongoDB that mongodb-memory-server runs for tests. `endProcesses()` kills its processes by these properties,
 * because the package cannot kill them with few permissions in Deno.
 */
export interface MemoryServer {
  /** The members of a replica set. Missing for a MongoDB that is a single server. */
  readonly servers?: readonly MemoryServer[];
  readonly instanceInfo?: {
    readonly instance: {
      readonly mongodProcess?: ChildProcess | undefined;
      readonly killerProcess?: ChildProcess | undefined;
    };
  } | undefined;
  getUri(dbName: string): string;
  stop(options: { doCleanup: boolean; force: boolean }): Promise<unknown>;
}

const NAME = "mongodb-memory-server";

const INSTALL = `Cannot start MongoDB: the package ${NAME} is missing: ` +
  `run "npm i -D ${NAME}" or "deno add npm:${NAME}"`;

/**
 * Imports mongodb-memory-server from the running application. Mongrove does not depend on the package, and the import
 * downloads nothing.
 *
 * @throws {Error} If the application has not installed the package.
 */
export async function loadMemoryServer(): Promise<MemoryServerPackage> {
  try {
    // The argument of `import()` is a variable. With a literal, bundlers would resolve the package before it is needed,
    // and fail in applications that have not installed it.
    return await import(NAME);
  } catch (cause) {
    const path = lookInProject();
    if (path === undefined) throw new Error(INSTALL, { cause });
    return await import(pathToFileURL(path).href);
  }
}

/**
 * Returns the path of the package as the project in the current directory resolves it, or `undefined` if the project
 * has no such package. Some installers let Mongrove import only the dependencies that Mongrove declares, so an import
 * from Mongrove would fail.
 */
function lookInProject(): string | undefined {
  try {
    return createRequire(join(process.cwd(), "main.js")).resolve(NAME);
  } catch {
    return undefined;
  }
}
