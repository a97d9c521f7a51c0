import { unknownOption } from "../errors/unknown_option.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { cannotServe } from "./_cannot_serve.ts";
import type { AdminLogin, AdminModel, AdminOptions, AdminSession } from "./options.ts";
import type { ShownRoute } from "./_shown_routes.ts";
import type { PageField } from "./document.ts";
import { isInWords } from "./_views.ts";

export const ADMIN_OPTIONS: Readonly<Record<keyof AdminOptions, true>> = {
  title: true,
  apiPath: true,
  see: true,
  login: true,
  session: true,
  models: true,
  links: true,
};

export const LOGIN: Readonly<Record<keyof AdminLogin, true>> = {
  header: true,
  label: true,
  help: true,
  prefix: true,
};

export const SESSION: Readonly<Record<keyof AdminSession, true>> = { signIn: true, signOut: true };

export function checkAdminOptions(options: unknown, routes: readonly ShownRoute[]): void {
  if (!isJsonObject(options)) throw cannotServe("the options are not an object");
  const { title, apiPath = "..", see, login, session, models, links = {} } = options;
  const unknown = unknownOption(options, ADMIN_OPTIONS);
  if (unknown !== undefined) throw cannotServe(`admin() has no option ${unknown}`);
  if (!isNonEmptyString(title)) throw cannotServe(`"title" is not a text`);
  if (!isNonEmptyString(apiPath) || !isOfSameOrigin(apiPath)) {
    throw cannotServe(`"apiPath" is not a path of the origin of the page, such as "/api"`);
  }
  if (see !== undefined && typeof see !== "function") {
    throw cannotServe(`"see" is not a function`);
  }
  if (!isJsonObject(links)) throw cannotServe(`"links" is not an object`);
  for (const [text, path] of Object.entries(links)) checkPath(path, `links.${text}`);
  if (login !== undefined) checkLogin(login);
  if (session !== undefined) checkSession(session);
  if (models !== undefined) checkModels(models, routes);
}

function checkSession(session: unknown): void {
  if (!isJsonObject(session)) throw cannotServe(`"session" is not an object`);
  const unknown = unknownOption(session, SESSION);
  if (unknown !== undefined) throw cannotServe(`"session" has no option ${unknown}`);
  checkPath(session.signIn, "session.signIn");
  checkPath(session.signOut, "session.signOut");
}

function checkPath(path: unknown, option: string): void {
  if (!isNonEmptyString(path) || !isOfSameOrigin(path)) {
    throw cannotServe(`"${option}" is not a path of the origin of the page, such as "/docs"`);
  }
}

function checkLogin(login: unknown): void {
  if (!isJsonObject(login)) throw cannotServe(`"login" is not an object`);
  const unknown = unknownOption(login, LOGIN);
  if (unknown !== undefined) throw cannotServe(`"login" has no option ${unknown}`);
  const { header, label, help = "", prefix = "" } = login;
  if (!isNonEmptyString(header) || !/^[\w!#$%&'*+.^`|~-]+$/.test(header)) {
    throw cannotServe(`"login.header" is not the name of a header`);
  }
  if (!isNonEmptyString(label)) throw cannotServe(`"login.label" is not a text`);
  if (typeof help !== "string") throw cannotServe(`"login.help" is not a text`);
  if (typeof prefix !== "string" || /[^\x20-\x7e]/.test(prefix)) {
    throw cannotServe(`"login.prefix" is not a text for a header`);
  }
}

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The page must not send the token of its login to another server. */
function isOfSameOrigin(path: string): boolean {
  const page = "https://page.invalid/a/b/";
  return URL.canParse(path, page) && new URL(path, page).origin === new URL(page).origin &&
    !/^[a-z][a-z0-9+.-]*:/i.test(path) && !/[?#]/.test(path);
}

const MODEL: Readonly<Record<keyof AdminModel, true>> = {
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

function checkModels(models: unknown, routes: readonly ShownRoute[]): void {
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
  // Only `format` can name a nested field, which cannot be a column or a title.
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
