import type { PageField, PageModel } from "./document.ts";
import type { AdminModel } from "./options.ts";
import { isLong, NAMES, readableName } from "./words.ts";

type View = Pick<PageModel, "title" | "list" | "columns">;

interface ViewOptions {
  readonly model?: AdminModel | undefined;
  readonly tenant?: string | undefined;
  readonly pictures?: readonly string[];
}

const MAX_COLUMNS = 6;
const NO_COLUMNS = ["Embedded", "Object", "Map", "Buffer"];
const IN_WORDS = ["String", "Number", "Int32", "Double", "BigInt", "Decimal128", "Date"];

/** Fields that the reader may not see are left out. If none is left, the default applies. */
export function viewOf(
  answer: readonly PageField[],
  { model = {}, tenant, pictures = [] }: ViewOptions,
): View {
  const fields = answer.filter(({ name }) => name !== "__v" && name !== tenant);
  const names = new Set(answer.map(({ name }) => name));
  const title = model.title !== undefined && names.has(model.title)
    ? [model.title]
    : titleIn(fields);
  const list = (model.list ?? []).filter((name) => names.has(name));
  return {
    title,
    list: list.length > 0
      ? list
      : firstColumns(fields, [...title, ...pictures.filter((name) => names.has(name))]),
    columns: [...new Set([...list, ...fields.map(({ name }) => name)])],
  };
}

function titleIn(fields: readonly PageField[]): readonly string[] {
  const worded = fields.filter((field) => isInWords(field));
  const named = NAMES.find((name) => worded.some((field) => field.name === name));
  if (named !== undefined) return [named];
  const short = worded.filter((field) => isShort(field) && field.enum === undefined);
  const first = short.find(({ type, required, readonly }) =>
    type === "String" && required && !readonly
  );
  return (first === undefined ? short.slice(0, 2) : [first]).map(({ name }) => name);
}

/** A reference names another entity, so it cannot be the title of this one. */
export function isInWords({ name, type, model }: PageField): boolean {
  return IN_WORDS.includes(type) && model === undefined && name !== "_id";
}

function firstColumns(fields: readonly PageField[], first: readonly string[]): readonly string[] {
  const short = fields.filter(isShort);
  const enums = short.filter((field) => (field.enum ?? field.items?.enum) !== undefined);
  const names = [...enums, ...short].map(({ name }) => name).filter((name) => name !== "_id");
  return [...new Set([...first, ...names])].slice(0, MAX_COLUMNS);
}

function isShort({ type, items, readonly, name }: PageField): boolean {
  if (type === "Array") {
    return items?.type === "String" || items?.model !== undefined && items.type !== "Embedded";
  }
  if (readonly && /(At|By)$/.test(name)) return name === "updatedAt";
  return !NO_COLUMNS.includes(type) && !isLong(name);
}

interface MenuEntry {
  readonly path: string;
  readonly menu?: AdminModel["menu"];
}

export function menuWords(entries: readonly MenuEntry[]): readonly string[] {
  const words = entries.map(({ path, menu }) => {
    const given = typeof menu === "object" ? menu[path] : menu;
    const segments = path.slice(1).split("/").map(readableName);
    // Equal texts get `rest` in brackets: the whole path, if the text comes from the option `menu`.
    const rest = given === undefined ? segments.slice(0, -1) : segments;
    return { text: given ?? segments.at(-1) ?? path, rest: rest.join(", ").toLowerCase() };
  });
  return words.map(({ text, rest }) => {
    const isAlone = words.filter((other) => other.text === text).length === 1;
    return isAlone || rest === "" ? text : `${text} (${rest})`;
  });
}
