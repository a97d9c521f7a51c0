import { denoPack } from "./deno_pack.ts";
import { dropComments } from "./drop_comments.ts";
import { mendLinks } from "./mend_links.ts";
import type { Files } from "./stage_package.ts";
import { tabIndents } from "./tab_indents.ts";

interface Config {
  readonly name: string;
  readonly version: string;
}

/** Declarations have comments. JavaScript has none, and short indents. */
export async function makeNpmPackage(source: Files): Promise<Files> {
  const { name, version }: Config = JSON.parse(source.get("deno.json") ?? "");
  const { manifest, files: packed } = await denoPack(name, source);
  const files = new Map(packed);
  for (const [path, text] of files) {
    if (path.endsWith(".js")) files.set(path, tabIndents(dropComments(text)));
    if (path.endsWith(".d.ts")) files.set(path, tabIndents(text));
  }
  const published = new Set(files.keys());
  const skill = files.get("SKILL.md") ?? "";
  // The site of npm shows the first page alone. Of the others, the package has what SKILL.md names.
  for (const page of [...published].filter((path) => /\w\.md$/.test(path) && path !== "SKILL.md")) {
    const links = { page, published, root: `https://jsr.io/${name}/${version}/` };
    if (page !== "README.md" && !skill.includes(page)) files.delete(page);
    else files.set(page, mendLinks(files.get(page) ?? "", links));
  }
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
