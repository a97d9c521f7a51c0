import { ROOT } from "./run_deno.ts";

/** By the ends of their names. */
const OPTIONS = /(Options?|Limits|Features|Words|Hooks|Login|Info|Server|Exposure)$/;

const MONGOOSE: Readonly<Record<string, string>> = {
  FieldOptions:
    "required unique index sparse immutable select alias expires default enum validate min max " +
    "minLength maxLength match trim lowercase uppercase get set transform",
  PropOptions: "type ref of",
  RestOptions: "schemaOptions",
};

/** Of strict mode, the guard, plugins, keys, assistants that sign in, adopted models, work and TanStack DB. */
const SINCE: Readonly<Record<string, string>> = {
  InitializeOptions: "strict guard plugins",
  StrictOptions: "parameters bodies guards lists removals",
  RestOptions: "open",
  OperationOptions: "open parameters",
  ConnectOptions: "apiKey",
  KeysOptions: "owner see scopes max pepper as connection",
  McpOptions: "authorization hosts",
  AdoptOptions: "shown virtuals writable rest parts",
  CreateAppOptions: "from write report",
  EveryOptions: "connection onError",
  MigrateOptions: "connection waitMS wait",
  CollectionOptions: "live query onDisconnect",
};

const listed = (table: Readonly<Record<string, string>>, name: string) =>
  table[name]?.split(" ") ?? [];

/** Counts the options without Mongoose's, and without those of later parts. */
export function countOwn(api: string): number {
  return [...readOptions(api)].flatMap(([name, options]) => {
    const others = [...listed(MONGOOSE, name), ...listed(SINCE, name)];
    return options.filter((option) => !others.includes(option));
  }).length;
}

/** `api` is the text of `tests/docs/public_api.txt`. */
export function readOptions(api: string): Map<string, string[]> {
  const options = new Map<string, string[]>();
  for (const form of api.split(/\n\n|^# .*\n/m)) {
    const [, name = ""] = /^interface (\w+)/.exec(form) ?? [];
    if (!OPTIONS.test(name)) continue;
    const members = form.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm);
    options.set(name, Array.from(members, ([, member = ""]) => member));
  }
  return options;
}

/** Prints the number of options of each interface, and their sum. */
export async function runWeight(): Promise<number> {
  const api = await Deno.readTextFile(new URL("tests/docs/public_api.txt", ROOT));
  let all = 0;
  for (const [name, options] of readOptions(api)) {
    console.log(`${String(options.length).padStart(4)} ${name}`);
    all += options.length;
  }
  const own = countOwn(api);
  console.log(
    `${String(all).padStart(4)} options, ${own} without Mongoose's and those of later parts`,
  );
  return 0;
}
