import mongoose from "mongoose";
import type { Mounted } from "../../support/support.ts";
import type { Family, Tenancy } from "./papers.ts";
import { CommandRecorder, type RecordedCommand } from "./record_commands.ts";
import { assertSucceeded, FEATURES, makeEntities } from "./requests.ts";
import {
  judgeCommand,
  type Judgement,
  refusesIndex,
  type ShardKey,
  type Target,
  type Version,
  VERSIONS,
  worst,
} from "./shard_rules.ts";

/** A shard key, and the classes that a list shows under it. */
export interface Column {
  readonly title: string;
  readonly key: ShardKey;
  readonly families: readonly Tenancy[];
}

export const COLUMNS = {
  byTenant: { title: "`{ company: 1 }`", key: { company: 1 }, families: ["tenant"] },
  byTenantAndId: {
    title: "`{ company: 1, _id: 1 }`",
    key: { company: 1, _id: 1 },
    families: ["tenant"],
  },
  byId: { title: '`{ _id: "hashed" }`', key: { _id: "hashed" }, families: ["none"] },
  byOther: { title: "`{ region: 1 }`", key: { region: 1 }, families: ["none"] },
} as const satisfies Readonly<Record<string, Column>>;

const columns: readonly Column[] = Object.values(COLUMNS);

/** The collections of the framework, and the shard keys for them. */
const OWN_KEYS: readonly (readonly [pattern: RegExp, name: string, key: ShardKey])[] = [
  [/_history$/, "`<collection>_history`", { entity: "hashed" }],
  [/^mongrove_keys$/, "`mongrove_keys`", { _id: "hashed" }],
  [/^mongrove_leases$/, "`mongrove_leases`", { _id: "hashed" }],
  [/^mongrove_follows$/, "`mongrove_follows`", { _id: "hashed" }],
  [/^mongrove_dead_letters$/, "`mongrove_dead_letters`", { _id: "hashed" }],
  [/^mongrove_files\.files$/, "`mongrove_files.files`", { _id: "hashed" }],
  [/^mongrove_files\.chunks$/, "`mongrove_files.chunks`", { files_id: 1 }],
];

/** The commands of each feature, by the family whose requests sent them. */
export interface Recorded {
  readonly feature: string;
  readonly family: Tenancy;
  readonly commands: readonly RecordedCommand[];
}

/** Uses all features of each family, and records the commands. */
export async function recordFeatures(
  app: Mounted,
  { families, step }: {
    readonly families: readonly Family[];
    readonly step: (name: string, run: () => Promise<void>) => Promise<unknown>;
  },
): Promise<Recorded[]> {
  const all: Recorded[] = [];
  using recorder = await CommandRecorder.start();
  for (const family of families) {
    for (const [feature, send] of FEATURES) {
      await step(`${feature} of "${family.name}"`, async () => {
        const hooked = await makeEntities(app, family);
        const stage = { ...await makeEntities(app, family), hooked };
        recorder.take();
        assertSucceeded(feature, await send(stage));
        const commands = recorder.take().filter(({ name }) => name !== "createIndexes");
        all.push({ feature, family: family.name, commands });
      });
    }
  }
  return all;
}

interface Judged {
  readonly target: Target;
  /** The versions of MongoDB that refuse a command. */
  readonly refusing: readonly Version[];
  readonly why: readonly string[];
}

/**
 * Judges the commands on collections that have a shard key by all versions. The target is that of the newest version.
 * Throws if no command was recorded on these collections, because a list must not show a target for nothing.
 */
function judge(
  commands: readonly RecordedCommand[],
  { name, keyOf }: {
    readonly name: string;
    readonly keyOf: (command: RecordedCommand) => ShardKey | undefined;
  },
): Judged {
  const byVersion = VERSIONS.map((version) => {
    const judged = commands.flatMap((each) => {
      const key = keyOf(each);
      const { command, exists } = each;
      return key === undefined ? [] : judgeCommand(command, { key, version, exists }) ?? [];
    });
    if (judged.length === 0) throw new Error(`No command of ${name} was recorded`);
    return { version, judged, worst: worst(judged) };
  });
  const refusing = byVersion.filter(({ worst: { target } }) => target === "refused");
  const whys = refusing.flatMap(({ judged }) => judged.flatMap(({ why }: Judgement) => why ?? []));
  return {
    target: byVersion.at(-1)?.worst.target ?? "one",
    refusing: refusing.map(({ version }) => version),
    why: [...new Set(whys)].sort(),
  };
}

/** Judges the commands of one feature on the collections of its classes. */
export function judgeFeature(
  recorded: readonly Recorded[],
  { feature, column }: { readonly feature: string; readonly column: Column },
): Judged {
  const commands = recorded.filter((each) =>
    each.feature === feature && column.families.includes(each.family)
  ).flatMap(({ commands }) => commands);
  const isOwn = ({ collection }: RecordedCommand) =>
    OWN_KEYS.some(([pattern]) => pattern.test(collection));
  return judge(commands, { name: feature, keyOf: (each) => isOwn(each) ? undefined : column.key });
}

/** Judges the commands on the collections of the framework. */
export function judgeOwn(recorded: readonly Recorded[]): (readonly [string, ShardKey, Judged])[] {
  const commands = recorded.flatMap(({ commands }) => commands);
  return OWN_KEYS.map(([pattern, name, key]) => {
    const keyOf = ({ collection }: RecordedCommand) => pattern.test(collection) ? key : undefined;
    return [name, key, judge(commands, { name, keyOf })];
  });
}

const WRITES = ["insert", "update", "delete", "findAndModify"];

/** Returns the collections of the framework to which no recorded command writes. */
export function unwritten(recorded: readonly Recorded[]): string[] {
  const writes = recorded.flatMap(({ commands }) => commands)
    .filter(({ name }) => WRITES.includes(name));
  return OWN_KEYS.filter(([pattern]) => !writes.some(({ collection }) => pattern.test(collection)))
    .map(([, name]) => name);
}

const WORDS: Readonly<Record<Target, string>> = {
  one: "one",
  several: "some",
  all: "all",
  refused: "refused",
};

/** Returns the lists of `lists.md`, in Markdown. */
export async function listsOf(recorded: readonly Recorded[]): Promise<string> {
  const indexes = await uniqueIndexes();
  const features = columns.map((column) => {
    const judged = FEATURES.map(([feature]) =>
      [feature, wordsOf(judgeFeature(recorded, { feature, column }))] as const
    );
    const [[most] = [""], ...others] = [...namesByWords(judged)]
      .toSorted(([, a], [, b]) => b.length - a.length);
    const exceptions = others.map(([words, names]) =>
      `${words.replace(`${most}, `, "")} for ${names.join(", ")}`
    );
    const unique = indexes.filter(([, index]) => !refusesIndex(index, column.key));
    const built = unique.map(([declared]) => declared).join(", ") || "none";
    return `- ${column.title}: ${most}, but ${exceptions.join("; ")}; unique indexes: ${built}`;
  });
  const own = namesByWords(
    judgeOwn(recorded).map(([name, key, judged]) =>
      [name, `\`${textOf(key)}\`, ${wordsOf(judged)}`] as const
    ),
  );
  const collections = [...own].map(([words, names]) => `- ${names.join(", ")}: ${words}`);
  return [features.join("\n"), "The collections of Mongrove:", collections.join("\n")].join("\n\n");
}

function wordsOf({ target, refusing, why }: Judged): string {
  if (refusing.length === 0) return WORDS[target];
  const refused = `refused by ${refusing.join(" and ")} (${why.join(", ")})`;
  return target === "refused" ? refused : `${WORDS[target]}, ${refused}`;
}

/** Returns the names that have the same words, by the words. */
function namesByWords(pairs: readonly (readonly [name: string, words: string])[]) {
  const names = new Map<string, string[]>();
  for (const [name, words] of pairs) names.set(words, [...names.get(words) ?? [], name]);
  return names;
}

function textOf(key: ShardKey): string {
  const fields = Object.entries(key).map(([name, kind]) => `${name}: ${JSON.stringify(kind)}`);
  return `{ ${fields.join(", ")} }`;
}

/** The unique indexes of the classes, by the collections that have them. */
const UNIQUE: readonly (readonly [declared: string, collection: string, field: string])[] = [
  ["`unique: true` with `tenant`", "tenantpapers", "code"],
  ["`unique: { global: true }` with `tenant`", "tenantpapers", "domain"],
  ["`unique: true` without `tenant`", "nonepapers", "code"],
];

/** Reads the unique indexes of the classes from the database, with the declarations that have made them. */
async function uniqueIndexes() {
  return await Promise.all(UNIQUE.map(async ([declared, collection, field]) => {
    const indexes = await mongoose.connection.collection(collection).indexes();
    const index = indexes.find(({ key, unique }) => unique && Object.keys(key).includes(field));
    if (index === undefined) throw new Error(`"${collection}" has no unique index on "${field}"`);
    return [declared, { key: index.key as Record<string, unknown>, unique: true }] as const;
  }));
}

/** Returns the indexes of the framework's collections that their shard keys refuse. */
export async function refusedOwnIndexes(): Promise<string[]> {
  const { db } = mongoose.connection;
  const found = await db?.listCollections({}, { nameOnly: true }).toArray() ?? [];
  const refused = found.map(async ({ name }) => {
    const [, , key] = OWN_KEYS.find(([pattern]) => pattern.test(name)) ?? [];
    if (key === undefined) return [];
    const indexes = await mongoose.connection.collection(name).indexes();
    return indexes.filter((index) =>
      refusesIndex({ ...index, key: index.key as Record<string, unknown> }, key)
    ).map(({ name: index }) => `${name}.${index}`);
  });
  return (await Promise.all(refused)).flat();
}
