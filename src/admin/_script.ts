import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import { gunzipSync } from "node:zlib";

/** The JavaScript file of the admin page, in the two forms for browsers with and without support of gzip. */
export interface PageScript {
  /**
   * The file name of the admin page's script, which contains a hash of the script. Browsers may cache the file for a
   * year, and load a changed script because its name has changed.
   */
  readonly name: string;
  readonly gzipped: Buffer;
  readonly plain: Buffer;
}

/** The text that the admin page shows in a clone of the repository in which the script was not built. */
export const MISSING =
  `The script of the admin page is not built: "deno task admin" builds it in the ` +
  `repository of Mongrove, "deno task demo" while it runs; then load this page again\n`;

/** Loads the script of the admin page. Returns `undefined` if the script was not built. */
export async function loadScript(): Promise<PageScript | undefined> {
  const built = await importBuilt();
  if (built === undefined) return undefined;
  const gzipped = Buffer.from(built.PAGE, "base64");
  const hash = createHash("sha256").update(gzipped).digest("base64url").slice(0, 16);
  return { name: `page-${hash}.js`, gzipped, plain: gunzipSync(gzipped) };
}

/**
 * Imports the module that contains the script of the admin page as base64. The script is in a module and not in a plain
 * file, because every runtime and bundler finds the modules of a package.
 */
async function importBuilt(): Promise<{ readonly PAGE: string } | undefined> {
  try {
    // @ts-types="./_built.d.ts"
    return await import("./built/page.js");
  } catch {
    return undefined;
  }
}
