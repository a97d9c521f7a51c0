import { unknownOption } from "../errors/unknown_option.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { cannotServe } from "./_cannot_serve.ts";
import { checkModels } from "./_check_models.ts";
import type { AdminLogin, AdminOptions, AdminSession } from "./options.ts";
import type { ShownRoute } from "./_shown_routes.ts";

export const OPTIONS: Readonly<Record<keyof AdminOptions, true>> = {
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

export function checkOptions(options: unknown, routes: readonly ShownRoute[]): void {
  if (!isJsonObject(options)) throw cannotServe("the options are not an object");
  const { title, apiPath = "..", see, login, session, models, links = {} } = options;
  const unknown = unknownOption(options, OPTIONS);
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
