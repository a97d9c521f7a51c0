import { ApiError } from "@mongrove/mongrove/client";
import { HttpError } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { type Field, fieldAt, modelNamed } from "./fields.ts";

const REASONS: Readonly<Record<number, string>> = {
  401: "you are not signed in",
  403: "you may not do this",
  404: "it does not exist, or you may not see it",
  409: "it conflicts with what is stored",
  412: "somebody else has changed it",
  413: "it is too large",
  429: "there were too many requests",
};

/** The reason of an error is a part of a sentence. */
function reasonOf(error: unknown, models: readonly PageModel[]): string {
  if (!(error instanceof ApiError)) {
    return error instanceof Error ? `the server did not answer (${error.message})` : String(error);
  }
  const { status, code, message, body } = error;
  const { referredBy } = (body ?? {}) as { readonly referredBy?: unknown };
  if (Array.isArray(referredBy)) {
    const words = referredBy.map((name) => modelNamed(models, name)?.menu ?? name);
    return `it is still used by: ${words.join(", ")}`;
  }
  const reason = REASONS[status] ?? (status >= 500 ? "the server failed" : undefined);
  if (message !== code) return message;
  return reason === undefined ? code : `${reason} (${code})`;
}

const INVALID = "This value is not valid";

/** Default messages of Mongoose name paths and values as code does. */
const DEFAULTS: readonly (readonly [message: RegExp, words: string])[] = [
  [/^Validator failed for path `.+` with value `[^]*`$/, INVALID],
  [/^Path `.+` is invalid \([^]*\)\.$/, INVALID],
  [/^`[^]*` is not a valid enum value for path `.+`\.$/, "Choose one of the values"],
];

function wordsFor(message: string, field: Field | undefined): string {
  const words = DEFAULTS.find(([pattern]) => pattern.test(message))?.[1] ?? message;
  return words === INVALID && field?.description ? `${words}: ${field.description}` : words;
}

/** Only paths with an input of the form are returned. */
function takenPaths({ body }: ApiError, form: readonly Field[]): readonly string[] {
  const paths: unknown = Object(body).fields;
  return Array.isArray(paths) ? paths.filter((path) => inputAt(form, String(path)) === path) : [];
}

/** A list of texts has one input, for example. The error of a path without an input would hold the form back for ever. */
function inputAt(form: readonly Field[], path: string): string | undefined {
  const [name = "", ...rest] = path.split(".");
  const field = form.find((each) => each.name === name);
  if (field === undefined) return undefined;
  const isTable = field.type === "Array" && field.items?.type === "Embedded";
  const fields = isTable
    ? field.items?.fields
    : field.type === "Embedded"
    ? field.fields
    : undefined;
  if (fields === undefined || isTable && rest.length < 2) return name;
  const start = isTable ? [name, ...rest.splice(0, 1)] : [name];
  const below = inputAt(fields, rest.join("."));
  return below === undefined ? undefined : [...start, below].join(".");
}

export interface FailureFacts {
  readonly form?: readonly Field[];
  readonly models?: readonly PageModel[];
}

/** React-admin shows the message of the error, and the messages of fields beside their inputs. */
export function failure(
  attempt: string,
  error: unknown,
  { form = [], models = [] }: FailureFacts = {},
): HttpError {
  if (error instanceof HttpError) return error;
  if (!(error instanceof ApiError)) {
    return new HttpError(`Cannot ${attempt}: ${reasonOf(error, models)}`, 0);
  }
  const refused = Object.entries(error.errors).map(([path, { message }]) => {
    const field = fieldAt(form, path.replaceAll(/\.\d+(?=\.|$)/g, ""));
    return { input: inputAt(form, path), words: wordsFor(message, field) };
  });
  const errors = Object.fromEntries([
    ...takenPaths(error, form).map((path) => [path, "Already taken"]),
    ...refused.flatMap(({ input, words }) => input === undefined ? [] : [[input, words]]),
  ]);
  const others = refused.flatMap(({ input, words }) => input === undefined ? [words] : []);
  const hint = others.length < refused.length ? ["see the messages at the fields"] : [];
  const reason = refused.length === 0 ? reasonOf(error, models) : [...hint, ...others].join("; ");
  return new HttpError(`Cannot ${attempt}: ${reason}`, error.status, { errors });
}

export function isConflict(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof HttpError) && error.status === 412;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
