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
  let [all, own] = [0, 0];
  for (const [name, options] of readOptions(api)) {
    const others = MONGOOSE[name]?.split(" ") ?? [];
    console.log(`${String(options.length).padStart(4)} ${name}`);
    all += options.length;
    own += options.filter((option) => !others.includes(option)).length;
  }
  console.log(`${String(all).padStart(4)} options, ${own} without those that Mongoose has too`);
  return 0;
}
