import type { FromFiles } from "./from.ts";

type CommonFiles = Readonly<Record<"app.ts" | "main.ts" | "app.test.ts", string>>;

/** Replaces the model `Todo` with the models of the database. */
export function fromFiles(
  { "app.ts": app, "main.ts": main, "app.test.ts": test }: CommonFiles,
  { database, files }: FromFiles,
): Readonly<Record<string, string>> {
  return {
    ...files,
    "app.ts": replaceAll(app, [
      ['import { Todo } from "./todo.ts";', 'import { models } from "./models.ts";'],
      ["models: [Todo]", "models"],
    ]),
    "main.ts": replaceAll(main, [
      ["27017/todos", `27017/${database}`],
      ["await mongoose.connect(uri, { serverSelectionTimeoutMS: 5000 })", CONNECT],
    ]),
    "app.test.ts": `${test.slice(0, test.indexOf("async function send("))}${TESTS}`
      .replace("import mongoose", () => `${IMPORTS}import mongoose`)
      .replace('"./app.ts";\n', () => '"./app.ts";\nimport { models } from "./models.ts";\n'),
  };
}

function replaceAll(text: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((changed, [old, now]) => changed.replace(old, () => now), text);
}

const CONNECT =
  `// The start changes neither collections nor indexes: an index that you add here is not built.
const options = { autoCreate: false, autoIndex: false, serverSelectionTimeoutMS: 5000 };
await mongoose.connect(uri, options)`;

const IMPORTS = 'import { Framework } from "@mongrove/mongrove";\n';

const TESTS =
  `const lists = Framework.describe({ models }).filter(({ operation }) => operation === "all");

async function statusOf(path: string, authorization: string) {
  const response = await fetch(url + path, { headers: { authorization } });
  await response.text();
  return response.status;
}

test("all lists answer", async () => {
  for (const { path } of lists) assert.equal(await statusOf(path, "secret"), 200, path);
});

test("nobody gets in without the key", async () => {
  for (const { path } of lists) assert.equal(await statusOf(path, "other"), 401, path);
});
`;
