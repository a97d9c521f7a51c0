import { denoPack } from "./deno_pack.ts";
import { dropComments } from "./drop_comments.ts";
import { halveIndents } from "./halve_indents.ts";
import { mendLinks } from "./mend_links.ts";
import type { Files } from "./stage_package.ts";

interface Config {
  readonly name: string;
  readonly version: string;
}

/** Declarations have comments, and JavaScript has none. */
export async function makeNpmPackage(source: Files): Promise<Files> {
  const { name, version }: Config = JSON.parse(source.get("deno.json") ?? "");
  const { manifest, files: packed } = await denoPack(name, source);
  const files = new Map(packed);
  for (const [path, text] of files) {
    if (path.endsWith(".js")) files.set(path, halveIndents(dropComments(text)));
  }
  const published = new Set(files.keys());
  // The site of npm shows this page alone.
  const readme = { page: "README.md", published, root: `https://jsr.io/${name}/${version}/` };
  files.set("README.md", mendLinks(files.get("README.md") ?? "", readme));
  const { dependencies, ...rest } = manifest;
  const packageJson = {
    ...rest,
    engines: { node: ">=22" },
    // The models are those of the application's Mongoose, so there must be one copy.
    peerDependencies: { ...dependencies as object, "@types/express": "^5" },
    peerDependenciesMeta: { "@types/express": { optional: true } },
  };
  files.set("package.json", `${JSON.stringify(packageJson, null, 2)}\n`);
  return files;
}
