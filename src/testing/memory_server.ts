import type { ChildProcess } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

/**
 * Declared here, because an import of the types of mongodb-memory-server would make it a dependency of every
 * application on Node.
 */
export interface MemoryServerPackage {
  readonly MongoMemoryServer: { create(options: object): Promise<MemoryServer> };
  readonly MongoMemoryReplSet: { create(options: object): Promise<MemoryServer> };
}

export interface MemoryServer {
  /** The members of a replica set. */
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

export async function loadMemoryServer(): Promise<MemoryServerPackage> {
  try {
    // With a string literal, bundlers would resolve the package at build time, and fail in applications without it.
    return await import(NAME);
  } catch (cause) {
    const path = lookInProject();
    if (path === undefined) throw new Error(INSTALL, { cause });
    return await import(pathToFileURL(path).href);
  }
}

/**
 * Resolves the package from the folder of the project, because some installers let Mongrove import only its declared
 * dependencies.
 */
function lookInProject(): string | undefined {
  try {
    return createRequire(join(process.cwd(), "main.js")).resolve(NAME);
  } catch {
    return undefined;
  }
}
