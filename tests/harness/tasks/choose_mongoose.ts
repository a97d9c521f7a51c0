import { ROOT } from "./run_deno.ts";

const OPTION = "--mongoose=";

/**
 * Takes `--mongoose=9.11.0` or `--mongoose=oldest`, the first allowed version, out of the arguments. Returns the other
 * arguments and the flags of Deno, none for the version in deno.json.
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

/** `deno task` downloads all imports first, so packages of tests and pages alone are in a scope. */
export async function readPackages(): Promise<Record<string, string>> {
  const { imports, scopes } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  return { ...imports, ...scopes["/"] };
}

/** Unlike imports of deno.json, an import map must name the modules inside of a package. */
function importMap(packages: Readonly<Record<string, string>>): string {
  const below = Object.entries(packages).map(([name, target]) => [
    `${name}/`,
    `${target.replace(":", ":/")}/`,
  ]);
  return JSON.stringify({ imports: { ...packages, ...Object.fromEntries(below) } });
}
