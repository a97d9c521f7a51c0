import { unknownOption } from "../errors/unknown_option.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { cannotServe } from "./_cannot_serve.ts";
import type { PageField } from "./document.ts";
import type { AdminModel } from "./options.ts";
import type { ShownRoute } from "./_shown_routes.ts";
import { isInWords } from "./_views.ts";

export const MODEL: Readonly<Record<keyof AdminModel, true>> = {
  list: true,
  title: true,
  menu: true,
  group: true,
  icon: true,
  format: true,
};

const NUMBERS = ["Number", "Int32", "Double", "BigInt", "Decimal128"];

interface Lists {
  readonly paths: readonly string[];
  readonly fields: readonly PageField[];
}

export function checkModels(models: unknown, routes: readonly ShownRoute[]): void {
  if (!isJsonObject(models)) throw cannotServe(`"models" is not an object`);
  for (const [name, model] of Object.entries(models)) {
    const lists = routes.filter(({ description, kind, parts }) =>
      description.model === name && description.operation === "all" && kind === "operation" &&
      parts.length === 0
    );
    if (lists.length === 0) {
      throw cannotServe(`"models" names "${name}", and the router has no list of such a class`);
    }
    checkModel(model, {
      place: `models.${name}`,
      paths: lists.map(({ base }) => base),
      fields: lists.flatMap(({ description }) => description.answer),
    });
  }
}

function checkModel(model: unknown, { place, ...lists }: Lists & { readonly place: string }): void {
  if (!isJsonObject(model)) throw cannotServe(`"${place}" is not an object`);
  const unknown = unknownOption(model, MODEL);
  if (unknown !== undefined) throw cannotServe(`"${place}" has no option ${unknown}`);
  const { list, title, menu, group, icon, format } = model;
  const named = (path: unknown, option: string) =>
    fieldNamed(path, { place: `${place}.${option}`, lists });
  if (list !== undefined) {
    if (!Array.isArray(list) || list.length === 0 || new Set(list).size < list.length) {
      throw cannotServe(`"${place}.list" is not a list of different fields`);
    }
    for (const each of list) named(each, "list");
  }
  if (title !== undefined && !isInWords(named(title, "title"))) {
    throw cannotServe(`"${place}.title" names "${title}", which is no text, number or date`);
  }
  checkMenu(menu, { place: `${place}.menu`, paths: lists.paths });
  for (const [option, value] of Object.entries({ group, icon })) {
    if (value !== undefined && !isNonEmptyString(value)) {
      throw cannotServe(`"${place}.${option}" is not a text`);
    }
  }
  if (format === undefined) return;
  if (!isJsonObject(format)) throw cannotServe(`"${place}.format" is not an object`);
  for (const [path, each] of Object.entries(format)) {
    const { type, items } = named(path, "format");
    if (!NUMBERS.includes(items?.type ?? type)) {
      throw cannotServe(`"${place}.format" names "${path}", which is no number`);
    }
    if (each !== undefined) checkFormat(each, `${place}.format.${path}`);
  }
}

function fieldNamed(
  path: unknown,
  { place, lists }: { readonly place: string; readonly lists: Lists },
): PageField {
  const names = typeof path === "string" ? path.split(".") : [];
  let fields = lists.fields;
  let found: PageField | undefined;
  for (const name of names) {
    found = fields.find((field) => field.name === name);
    fields = found?.fields ?? found?.items?.fields ?? [];
  }
  // Only `format` can name a nested field, which is no column.
  if (found !== undefined && (names.length === 1 || place.endsWith(".format"))) return found;
  throw cannotServe(`"${place}" names "${String(path)}", which is no field that its list shows`);
}

function checkMenu(
  menu: unknown,
  { place, paths }: { readonly place: string; readonly paths: readonly string[] },
): void {
  if (menu === undefined || isNonEmptyString(menu)) return;
  if (!isJsonObject(menu)) throw cannotServe(`"${place}" is neither a text nor texts by paths`);
  for (const [path, text] of Object.entries(menu)) {
    if (!paths.includes(path)) {
      throw cannotServe(`"${place}" names "${path}", and the lists are at ${paths.join(", ")}`);
    }
    if (!isNonEmptyString(text)) throw cannotServe(`"${place}" has no text for "${path}"`);
  }
}

function checkFormat(format: unknown, place: string): void {
  if (format === "percent" || format === "plain") return;
  const { currency, ...others } = isJsonObject(format) ? format : {};
  if (isCurrency(currency) && Object.keys(others).length === 0) return;
  throw cannotServe(`"${place}" is neither "percent" nor "plain" nor { currency: "EUR" }`);
}

function isCurrency(code: unknown): boolean {
  return typeof code === "string" && /^[A-Z]{3}$/.test(code);
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
