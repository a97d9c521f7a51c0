import { ROOT } from "./run_deno.ts";

const OPTION = "--mongoose=";

/**
 * Takes the version of Mongoose out of the arguments of a task: `--mongoose=9.11.0`, or `--mongoose=oldest` for the first
 * one that the package allows.
 *
 * @param args The arguments of the task.
 * @returns The other arguments, and the flags with which Deno uses that version; none for the one in deno.json.
 */
export async function chooseMongoose(
  args: readonly string[],
): Promise<{ readonly args: string[]; readonly flags: string[] }> {
  const given = args.find((arg) => arg.startsWith(OPTION))?.slice(OPTION.length);
  const others = args.filter((arg) => !arg.startsWith(OPTION));
  if (given === undefined) return { args: others, flags: [] };
  const packages = await readPackages();
  const version = given === "oldest" ? packages.mongoose?.replace(/^.*\^/, "") : given;
  const map = importMap({ ...packages, mongoose: `npm:mongoose@${version}` });
  return { args: others, flags: [`--import-map=data:application/json,${encodeURIComponent(map)}`] };
}

/** Reads the packages in deno.json. `deno task` downloads all imports first, so packages that only tests and pages need are in a scope. */
export async function readPackages(): Promise<Record<string, string>> {
  const { imports, scopes } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  return { ...imports, ...scopes["/"] };
}

/** Imports of deno.json lead to what is below a package as well; those of an import map have to say so. */
function importMap(packages: Readonly<Record<string, string>>): string {
  const below = Object.entries(packages).map(([name, target]) => [
    `${name}/`,
    `${target.replace(":", ":/")}/`,
  ]);
  return JSON.stringify({ imports: { ...packages, ...Object.fromEntries(below) } });
}
