import { join } from "node:path";
import { readPackages } from "../../harness/tasks/choose_mongoose.ts";

/** A project in a folder of its own, which uses this repository in place of the published package. */
export interface Project extends AsyncDisposable {
  /** The folder. */
  readonly folder: string;
  /** Writes files into it. */
  write(files: Record<string, string>): Promise<void>;
}

/** Makes an empty project. */
export async function makeProject(): Promise<Project> {
  const root = new URL("../../../", import.meta.url);
  const { name, exports, compilerOptions } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const own = Object.entries<string>(exports).map(([key, path]) => [
    `${name}${key.slice(1)}`,
    new URL(path, root).href,
  ]);
  const folder = await Deno.makeTempDir({ prefix: "mongrove-tutorial-" });
  const write = async (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      await Deno.writeTextFile(join(folder, path), text);
    }
  };
  const config = {
    imports: { ...await readPackages(), ...Object.fromEntries(own) },
    compilerOptions,
  };
  await write({ "deno.json": JSON.stringify(config) });
  return {
    folder,
    write,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}
