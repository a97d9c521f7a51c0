import { assert, assertEquals } from "@std/assert";
import { longTest } from "../harness/testing.ts";
import { countOwn } from "../harness/tasks/weight_task.ts";
import { describeApi } from "./public_api.ts";

/** The lines of one text that the other does not have. */
function missing(from: string, other: string): string[] {
  const known = new Set(other.split("\n"));
  return from.split("\n").filter((line) => !known.has(line));
}

longTest("The public API is what public_api.txt says, name by name", async () => {
  const said = await Deno.readTextFile(new URL("public_api.txt", import.meta.url));
  const is = await describeApi();
  const hint =
    "If the change is meant: deno run -A tests/docs/public_api.ts > tests/docs/public_api.txt";
  assertEquals(
    { added: missing(is, said), gone: missing(said, is) },
    { added: [], gone: [] },
    hint,
  );
  assertEquals(is, said, hint);
});

Deno.test("A name that several exports have is one thing in all of them", async () => {
  const said = await Deno.readTextFile(new URL("public_api.txt", import.meta.url));
  const forms = new Map<string, string>();
  for (const form of said.split(/\n\n|^# .*\n/m)) {
    const [, name] = /^(?:async |abstract )*(?:class|const|interface|type) (\w+)/.exec(form) ?? [];
    if (name === undefined) continue;
    assertEquals(form.trim(), forms.get(name) ?? form.trim(), name);
    forms.set(name, form.trim());
  }
  assert(forms.has("FrameworkModel"));
});

/** The exports that may have more than 12 names. */
const MOST: Readonly<Record<string, number>> = { "": 60, "/client": 30, "/plugin": 25 };

Deno.test("No export has more names than one person can know", async () => {
  const said = await Deno.readTextFile(new URL("public_api.txt", import.meta.url));
  const parts = said.split("# @mongrove/mongrove").slice(1);
  assertEquals(parts.length, 13);
  for (const part of parts) {
    const [path = "", forms = ""] = part.split(/\n([^]*?)(?=# without|$)/);
    const declared = /^(?:async |abstract )*(?:class|const|function|interface|type) (\w+)/gm;
    const names = new Set(Array.from(forms.matchAll(declared), ([, name]) => name));
    const most = MOST[path] ?? 12;
    assert(names.size > 0 && names.size <= most, `${path}: ${names.size} names, at most ${most}`);
  }
});

/** At most 210. A new option takes the place of another. */
const MOST_OPTIONS = 209;

Deno.test("The API has no more options than before", async () => {
  const said = await Deno.readTextFile(new URL("public_api.txt", import.meta.url));
  const count = countOwn(said);
  assert(count <= MOST_OPTIONS, `${count} options, at most ${MOST_OPTIONS}: deno task weight`);
});
