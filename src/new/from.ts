import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type FoundModel, modelText } from "./model_text.ts";
import type { ModelNames } from "./names.ts";
import { type FoundDatabase, linesOf, readDatabase } from "./read_database.ts";

/** A later run compares the database with this record. */
export const RECORD_FILE = "models.json";

const LIST_FILE = "models.ts";

interface ModelRecord extends ModelNames {
  readonly hash: string;
  readonly lines: Readonly<Record<string, string>>;
}

interface FromRecord {
  readonly plain: boolean;
  readonly hash: string;
  readonly models: Readonly<Record<string, ModelRecord>>;
}

export interface FromOptions {
  readonly uri: string;
  readonly plain: boolean;
  readonly report: (line: string) => void;
}

export interface FromFiles {
  readonly database: string;
  readonly files: Readonly<Record<string, string>>;
  readonly route: string;
}

type Files = Record<string, string>;

export async function filesFrom({ uri, plain, report }: FromOptions): Promise<FromFiles> {
  const found = await readDatabase(uri, { known: new Map(), note: report });
  const { files, record } = makeFiles(found, { plain, known: {} });
  const [{ route = "/" } = {}] = found.models;
  return { database: found.name, files: { ...files, [RECORD_FILE]: json(record) }, route };
}

/** Reports changes of the database, and returns the files to write. */
export async function changesFrom(
  folder: string,
  { uri, report }: Omit<FromOptions, "plain">,
): Promise<Readonly<Record<string, string>>> {
  const { plain, models: known, hash } = await readRecord(join(folder, RECORD_FILE));
  const notes: string[] = [];
  const found = await readDatabase(uri, {
    known: new Map(Object.entries(known)),
    note: (line) => notes.push(line),
  });
  const { files, record } = makeFiles(found, { plain, known });
  const differing = new Set<string>();
  for (const collection of Object.keys({ ...known, ...record.models })) {
    const isFound = found.models.some((each) => each.collection === collection);
    const lines = isFound
      ? compare(collection, {
        before: known[collection]?.lines,
        after: record.models[collection]?.lines,
      })
      : [`- ${collection}`, ...notes.filter((line) => line.startsWith(`${collection}: `))];
    for (const line of lines) report(line);
    if (lines.length > 0) differing.add(collection);
  }
  if (differing.size === 0) {
    report("The database and the models have no differences");
    return {};
  }
  const before = new Map([[LIST_FILE, hash]]);
  for (const { file, hash } of Object.values(known)) before.set(fileOf(file), hash);
  const unchanged = found.models.filter(({ collection }) => !differing.has(collection));
  const skipped = new Set(unchanged.map(({ file }) => fileOf(file)));
  const written: Files = {};
  for (const [name, text] of Object.entries(files)) {
    if (skipped.has(name) || hashOf(text) === before.get(name)) continue;
    const path = join(folder, name);
    const isStored = existsSync(path);
    const isOwn = isStored && hashOf(await readFile(path, "utf8")) !== before.get(name);
    if (isOwn) report(`${name} was changed by hand, and is not written`);
    else if (!isStored && before.has(name)) {
      report(`${name} was removed by hand, and is not written`);
    } else written[name] = text;
  }
  return { ...written, [RECORD_FILE]: json(record) };
}

async function readRecord(path: string): Promise<FromRecord> {
  try {
    const record = JSON.parse(await readFile(path, "utf8"));
    if (typeof record.hash === "string" && typeof record.models === "object") return record;
  } catch {
    // The error of `JSON.parse()` does not name the file, unlike the error below.
  }
  throw new Error(`Cannot compare with a database: ${RECORD_FILE} is no record of new --from`);
}

function makeFiles(
  found: FoundDatabase,
  { plain, known }: Pick<FromRecord, "plain"> & { readonly known: FromRecord["models"] },
): { readonly files: Files; readonly record: FromRecord } {
  const names = new Map<string, ModelNames>(found.models.map((model) => [model.collection, model]));
  const files: Files = {};
  const models: Record<string, ModelRecord> = { ...known };
  for (const model of found.models) {
    const text = modelText(model, { plain, models: names, collectionOf: found.collectionOf });
    files[fileOf(model.file)] = text;
    models[model.collection] = recordOf(model, text);
  }
  files[LIST_FILE] = listText(Object.values(models));
  return { files, record: { plain, hash: hashOf(files[LIST_FILE]), models } };
}

function recordOf(model: FoundModel, text: string): ModelRecord {
  const { name, file, route } = model;
  return { name, file, route, hash: hashOf(text), lines: linesOf(model) };
}

function fileOf(name: string): string {
  return `models/${name}.ts`;
}

function listText(models: readonly ModelNames[]): string {
  const imports = models.map(({ name, file }) =>
    `import { ${name} } from "./models/${file}.ts";\n`
  );
  const list = models.map(({ name }) => `  ${name},\n`);
  return `${imports.join("")}\nexport const models = [\n${list.join("")}];\n`;
}

type Lines = Readonly<Record<string, string>>;

function compare(
  collection: string,
  { before, after = {} }: { readonly before: Lines | undefined; readonly after: Lines | undefined },
): string[] {
  if (before === undefined) return [`+ ${collection}`];
  return Object.keys({ ...before, ...after }).flatMap((path) => {
    const [old, now] = [before[path], after[path]];
    const at = `${collection}.${path}`;
    if (old === now) return [];
    if (old === undefined) return [`+ ${at}: ${now}`];
    return [now === undefined ? `- ${at}: ${old}` : `~ ${at}: ${old} → ${now}`];
  });
}

function hashOf(text: string): string {
  return createHash("sha256").update(text.replaceAll("\r\n", "\n")).digest("hex");
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
