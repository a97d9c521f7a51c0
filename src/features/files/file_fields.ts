import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { FieldRecord } from "../../declare/model/records.ts";
import type { FieldFeatures } from "../../declare/options.ts";
import { cannotMount } from "../../pipeline/option_reader.ts";
import { fieldKind, isModelClass } from "../../schema/build_field.ts";
import { memoize } from "../../schema/memoize.ts";
import { isTypePattern } from "./media_type.ts";
import { StoredFile } from "./stored_file.ts";

export interface FileConfig extends Pick<FieldFeatures, "accept" | "inline"> {
  readonly maxBytes: number;
  readonly readonly?: unknown;
}

const FILE_OPTIONS: readonly string[] = [
  "maxBytes",
  "accept",
  "inline",
] satisfies readonly (keyof FileConfig)[];

const WITH_FILE: ReadonlySet<string> = new Set([
  ...FILE_OPTIONS,
  ...["type", "hidden", "readonly", "apart", "select", "summary", "description", "deprecated"],
]);

export function declaredFiles(target: ModelClass): readonly string[] | undefined {
  for (const field of describeModel(target).fields.values()) {
    const problem = problemOf(field);
    if (problem !== undefined) throw cannotMount(target, `its field "${field.name}" ${problem}`);
  }
  if (target === StoredFile) return [];
  const paths = filePaths(target);
  return paths.length === 0 ? undefined : paths;
}

export function fileConfigOf(owner: ModelClass, property: string): FileConfig {
  return describeModel(owner).fields.get(property)?.options as unknown as FileConfig;
}

function problemOf({ array, options }: FieldRecord): string | undefined {
  const kinds = [options.items, options.of].map(fieldKind);
  if (kinds.includes(StoredFile)) {
    return "holds several files: embed a class that has a field with one file";
  }
  const kind = array ? undefined : fieldKind(options.type);
  if (kind !== StoredFile) {
    const given = FILE_OPTIONS.find((name) => options[name] !== undefined);
    if (given !== undefined) return `has "${given}" and no StoredFile as "type"`;
    return isModelClass(kind) && kind.prototype instanceof StoredFile
      ? "has a subclass of StoredFile as its type"
      : undefined;
  }
  const { maxBytes, accept, inline = false } = options;
  const other = Object.keys(options).find((name) => !WITH_FILE.has(name));
  if (other !== undefined) return `is a file, and cannot have "${other}"`;
  if (!Number.isSafeInteger(maxBytes) || Number(maxBytes) < 1) {
    return `is a file, and needs a whole number of bytes as "maxBytes"`;
  }
  if (typeof inline !== "boolean") return `needs true or false as "inline"`;
  const isList = Array.isArray(accept) && accept.length > 0 && accept.every(isTypePattern);
  return accept === undefined || isList
    ? undefined
    : `needs a list of media types as "accept", such as ["image/png"]`;
}

/** If a class embeds itself, a path ends at the repeated class, or else paths would be endless. */
const filePaths = memoize((target: ModelClass): readonly string[] => pathsIn(target, []));

function pathsIn(target: ModelClass, above: readonly ModelClass[]): string[] {
  return [...describeModel(target).fields.values()].flatMap((field) => {
    const { name, options: { of } } = field;
    const kind = embeddedKind(field);
    if (kind === StoredFile) return [name];
    if (!isModelClass(kind)) return [];
    if (kind === target || above.includes(kind)) return holdsFiles(kind) ? [name] : [];
    // A Map has undeclared keys, so the path ends at the Map.
    const below = pathsIn(kind, [...above, target]);
    return of === undefined
      ? below.map((path) => `${name}.${path}`)
      : below.slice(0, 1).map(() => name);
  });
}

function holdsFiles(target: ModelClass, visited = new Set<ModelClass>()): boolean {
  visited.add(target);
  return [...describeModel(target).fields.values()].some((field) => {
    const kind = embeddedKind(field);
    return kind === StoredFile ||
      isModelClass(kind) && !visited.has(kind) && holdsFiles(kind, visited);
  });
}

/** Ignores references, because a referenced entity owns its files itself. */
function embeddedKind({ options: { type, items, embedded, of } }: FieldRecord) {
  return fieldKind(of ?? type ?? (embedded === true ? items : undefined));
}
