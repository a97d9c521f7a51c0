import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import { brotliDecompressSync, gzipSync } from "node:zlib";

/** The content encodings of the script, the shortest first. */
export const ENCODINGS = ["br", "gzip", "identity"] as const;

/** The JavaScript file of the admin page. */
export interface PageScript {
  /**
   * The file name of the admin page's script, which contains a hash of the script. Browsers may cache the file for a
   * year, and load a changed script because its name has changed.
   */
  readonly name: string;
  readonly bodies: Readonly<Record<typeof ENCODINGS[number], Buffer>>;
}

/** The text that the admin page shows in a clone of the repository in which the script was not built. */
export const MISSING =
  `The script of the admin page is not built: "deno task admin" builds it in the ` +
  `repository of Mongrove, "deno task demo" while it runs; this page then shows it by itself\n`;

/** Loads the script of the admin page. Returns `undefined` if the script was not built. */
export async function loadScript(): Promise<PageScript | undefined> {
  const built = await importBuilt();
  if (built === undefined) return undefined;
  const br = Buffer.from(built.PAGE, "base64");
  const hash = createHash("sha256").update(br).digest("base64url").slice(0, 16);
  const identity = brotliDecompressSync(br);
  return {
    name: `page-${hash}.js`,
    bodies: { br, gzip: gzipSync(identity, { level: 9 }), identity },
  };
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
    // Deno repeats the failure of a specifier for ever.
    tries++;
    return await import(new URL(`./built/page.js?${tries}`, import.meta.url).href)
      .catch(() => undefined);
  }
}

let tries = 0;
