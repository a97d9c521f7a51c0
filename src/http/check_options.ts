import type { ModelClass } from "../declare/model/framework_model.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { whyUnseen } from "../schema/fields/visibility.ts";

/**
 * The function that makes the error of a wrong declaration. The message of the error names the class, so that the
 * developer finds the declaration.
 */
export type Fail = (problem: string) => TypeError;

export function cannotMount({ name }: ModelClass, problem: string): TypeError {
  return new TypeError(`Cannot mount "${name}": ${problem}`);
}

/**
 * The name of a checked option, such as `page.max`, and the function that makes the error of a wrong value. The message
 * of the error names the option.
 */
interface GivenOption {
  readonly option: string;
  readonly fail: Fail;
}

const KINDS = {
  boolean: ["a boolean", (value: unknown) => typeof value === "boolean"],
  count: ["a whole number of at least 1", isCount],
  function: ["a function", (value: unknown) => typeof value === "function"],
  required: ['"required"', (value: unknown) => value === "required"],
  names: ["a list of names", isNames],
  fields: ["a list of fields", isFilled],
  paths: ["a list of paths", isFilled],
  formats: ["a list of formats", isFilled],
} as const;

/**
 * The type of the values that pass the check of a kind in `KINDS`. `checkKind()` returns a value of this type, so that
 * its callers need no cast.
 */
type Checked<K extends keyof typeof KINDS> = typeof KINDS[K][1] extends
  (value: unknown) => value is infer T ? T : never;

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function isFilled(value: unknown): value is readonly string[] {
  return isNames(value) && value.length > 0;
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

export function checkKind<K extends keyof typeof KINDS>(
  value: unknown,
  { kind, option, fail }: GivenOption & { readonly kind: K },
): Checked<K> {
  const [words, isOfKind] = KINDS[kind];
  if (!isOfKind(value)) throw fail(`needs ${words} as "${option}"`);
  return value as Checked<K>;
}

/**
 * Returns the object that a declaration gives as an option. The value `true` stands for an object without keys. Throws
 * if the object has an unknown key, because a misspelled key would have no effect.
 */
export function objectOf<N extends string>(
  given: unknown,
  { names, option, fail }: GivenOption & { readonly names: readonly N[] },
): { readonly [K in N]?: unknown } {
  if (given !== true && !isJsonObject(given)) throw fail(`needs true or an object as "${option}"`);
  const object = given === true ? {} : given;
  const unknown = Object.keys(object).find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined) throw fail(`has an unknown option "${option}.${unknown}"`);
  return object as { readonly [K in N]?: unknown };
}

const HELD: Readonly<Record<FieldShape["kind"], string>> = {
  array: "an array",
  object: "an object",
  map: "a map",
  free: "anything",
  scalar: "no text",
};

/**
 * Throws if an option of a read, such as `sort`, lists a field that clients do not see, or a field whose type the
 * option cannot use. Returns the names of the listed fields without duplicates.
 */
export function checkFields(
  given: unknown,
  { option, shape, fail }: GivenOption & { readonly shape: Shape },
): readonly string[] {
  const names = checkKind(given, { kind: "fields", option, fail });
  for (const name of names) {
    const field = shape.fields.get(name);
    const isPossible = option === "select" || field?.kind === "scalar" &&
        (option !== "search" || field.type?.instance === "String");
    const problem = whyUnseen(field) ??
      (field && !isPossible ? `cannot be used: it holds ${HELD[field.kind]}` : undefined);
    if (problem !== undefined) throw fail(`has "${name}" in "${option}", which ${problem}`);
  }
  return [...new Set(names)];
}

/**
 * Returns the first key that is no option, for an error message. The key is in quotes, followed by the option that may
 * be meant. Returns `undefined` if all keys are options, so that the caller throws no error.
 */
export function unknownOption(given: object, known: object): string | undefined {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return undefined;
  const meant = Object.keys(known).find((name) =>
    name.toLowerCase().startsWith(unknown.toLowerCase())
  );
  return `"${unknown}"${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`;
}

/**
 * Throws if the options of a function such as `Framework.errors()` are a request of Express. In this case, the
 * application has mounted the function itself instead of its result, and no request would be answered.
 */
export function refuseRequest(name: string, given: unknown): void {
  if (typeof given !== "object" || given === null || !("httpVersion" in given)) return;
  throw new TypeError(`Cannot use Framework.${name}: call it, as in app.use(Framework.${name}())`);
}
