import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import { brotliDecompressSync, gzipSync } from "node:zlib";

/** A browser that accepts several gets the first, so the shortest comes first. */
export const ENCODINGS = ["br", "gzip", "identity"] as const;

export interface PageScript {
  /** The name has a hash, so browsers may cache the file for a year. */
  readonly name: string;
  readonly bodies: Readonly<Record<typeof ENCODINGS[number], Buffer>>;
}

/** A clone of the repository may lack the built script. */
export const MISSING =
  `The script of the admin page is not built: "deno task admin" builds it in the ` +
  `repository of Mongrove, "deno task demo" while it runs; this page then shows it by itself\n`;

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

/** Runtimes and bundlers find modules of a package, but no plain files, so the script is a module. */
async function importBuilt(): Promise<{ readonly PAGE: string } | undefined> {
  try {
    // @ts-types="./_built.d.ts"
    return await import("./built/page.js");
  } catch {
    // Deno keeps a failed import for ever, so each second has a new specifier.
    const second = Math.floor(Date.now() / 1000);
    return await import(new URL(`./built/page.js?${second}`, import.meta.url).href)
      .catch(() => undefined);
  }
}
