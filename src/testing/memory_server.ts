import type { ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

/**
 * The package mongodb-memory-server, as far as it is used. An import of its types would make it a dependency of every
 * application on Node.
 */
export interface MemoryServerPackage {
  readonly MongoMemoryServer: { create(options: object): Promise<MemoryServer> };
  readonly MongoMemoryReplSet: { create(options: object): Promise<MemoryServer> };
}

/** A MongoDB that the package runs. */
export interface MemoryServer {
  /** The members, if it is a replica set. */
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

/** Loads the package from the application that runs. It is not part of this one, and nothing is fetched. */
export async function loadMemoryServer(): Promise<MemoryServerPackage> {
  try {
    // Not a literal: nothing may look for the package before it is needed
    return await import(NAME);
  } catch (cause) {
    const path = lookInProject();
    if (path === undefined) throw new Error(INSTALL, { cause });
    return await import(pathToFileURL(path).href);
  }
}

/** Finds the package in the project, for installers that show packages only what these name. */
function lookInProject(): string | undefined {
  try {
    return createRequire(join(process.cwd(), "main.js")).resolve(NAME);
  } catch {
    return undefined;
  }
}
