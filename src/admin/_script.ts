import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";

/** The script of the admin page. */
export interface PageScript {
  /** The name of the file of the script. The name changes with the script, so that browsers load a new script. */
  readonly name: string;
  readonly gzipped: Buffer;
  readonly plain: Buffer;
}

/** The text that the admin page shows in a clone of the repository in which the script was not built. */
export const MISSING = `The script of the admin page is not built: run "deno task admin" in the ` +
  `repository of Mongrove\n`;

/** Loads the script of the admin page. Returns `undefined` if the script was not built. */
export async function loadScript(): Promise<PageScript | undefined> {
  const built = await importBuilt();
  if (built === undefined) return undefined;
  const gzipped = Buffer.from(built.PAGE, "base64");
  const hash = createHash("sha256").update(gzipped).digest("base64url").slice(0, 16);
  return { name: `page-${hash}.js`, gzipped, plain: gunzipSync(gzipped) };
}

/**
 * Imports the module with the script. The script is in a module and not in a file, so that every runtime and bundler
 * finds it where it finds the code of the package.
 */
async function importBuilt(): Promise<{ readonly PAGE: string } | undefined> {
  try {
    // @ts-types="./_built.d.ts"
    return await import("./built/page.js");
  } catch {
    return undefined;
  }
}
