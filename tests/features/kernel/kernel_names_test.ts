import { assertEquals } from "@std/assert";
import { features } from "../../../src/features.ts";

const SRC = new URL("../../../src/", import.meta.url);

/** Files that name features by their purpose: the list, the table of types, and the exports of their own. */
const MAY_NAME =
  /^(features\/|features\.ts|declare\/options\.ts|host\/|client\/|mcp\/|new\/|testing\/|changes\/|keys\/|tanstack\/)/;

/** Uses of the word of a feature for something else, by file. */
const OTHER_USES: Readonly<Record<string, readonly string[]>> = {
  // The ways in which clients use a field, for the types of options.
  "admin/options.ts": ["select"],
  "declare/model/field_names.ts": ["sort", "select", "search", "populate"],
  // An option of `updateAll()` has the same name.
  "declare/operations/write_options.ts": ["atomic"],
  "http/routes/compile_writes.ts": ["atomic"],
  // Two features share the parameter.
  "pipeline/sort_keys.ts": ["sort"],
  // Options of Mongoose and of the driver.
  "schema/build_schema.ts": ["select"],
  "schema/fields/check_kinds.ts": ["select"],
  "sources/collection/plan_read.ts": ["sort"],
  "sources/collection/read_documents.ts": ["populate"],
  // A function of Mongoose, and an element of a page.
  "schema/mongoose/assumptions.ts": ["many"],
  "openapi/docs/mount_docs.ts": ["page"],
};

async function* filesIn(folder: URL, prefix = ""): AsyncGenerator<readonly [string, string]> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* filesIn(new URL(`${name}/`, folder), `${prefix}${name}/`);
    else if (/(?<!_test)\.ts$/.test(name)) {
      yield [`${prefix}${name}`, await Deno.readTextFile(new URL(name, folder))];
    }
  }
}

/** Returns the code of a file without its comments, in which words have another meaning. */
function codeOf(text: string): string {
  return text.replace(/\/\*[^]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
}

Deno.test("no file outside of features/ names a feature or imports one", async () => {
  const names = features.all.flatMap(({ name, options = [] }) => [name, ...options]);
  const options = [...new Set([...names, "batch"])];
  assertEquals(options.length >= 12, true);
  const found: string[] = [];
  for await (const [file, text] of filesIn(SRC)) {
    if (MAY_NAME.test(file)) continue;
    const code = codeOf(text);
    if (/from "[./]*\/features\//.test(code)) found.push(`${file} imports a feature`);
    for (const name of options) {
      const isNamed = new RegExp(`["'\`]${name}["'\`]|hooks\\.${name}\\b`).test(
        code,
      );
      if (isNamed && !OTHER_USES[file]?.includes(name)) found.push(`${file} names ${name}`);
    }
  }
  assertEquals(found, []);
});
