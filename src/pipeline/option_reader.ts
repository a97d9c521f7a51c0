import type { Schema } from "mongoose";
import type { PreFetch } from "../declare/hooks/hooks.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { Duration } from "../declare/model/duration.ts";
import type { Method } from "../declare/operations/methods.ts";
import { isNames, type Kind, KINDS, MAX_TTL_SECONDS } from "../errors/option_kinds.ts";
import { meantBy } from "../errors/unknown_option.ts";
import type { PartLink } from "../schema/describe_parts.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { whyUnseen } from "../schema/fields/visibility.ts";
import { DeclaredField } from "./feature.ts";

/**
 * The function that returns the error for a wrong option of a class. The message of the error begins with the name of
 * the class, so that the developer finds the declaration.
 */
export type Fail = (problem: string) => TypeError;

export function cannotMount({ name }: ModelClass, problem: string): TypeError {
  return new TypeError(`Cannot mount "${name}": ${problem}`);
}

/**
 * The name of an option, such as `page.max`, and the function that returns the error for a wrong value. The message of
 * the error contains the name.
 */
interface GivenOption {
  readonly option: string;
  readonly fail: Fail;
}

/**
 * The TypeScript type of a value that has passed a check in `KINDS`, so that the callers of `checkKind()` need no cast.
 */
type Checked<K extends Kind> = typeof KINDS[K][1] extends (value: unknown) => value is infer T ? T
  : never;

export function checkKind<K extends Kind>(
  value: unknown,
  { kind, option, fail }: GivenOption & { readonly kind: K },
): Checked<K> {
  const [words, isOfKind] = KINDS[kind];
  if (!isOfKind(value)) throw fail(`needs ${words} as "${option}"`);
  return value as Checked<K>;
}

/**
 * Returns an option that is an object. The value `true` stands for an object without keys. Throws if the object has an
 * unknown key, because a misspelled key would have no effect.
 */
function objectOf<N extends string>(
  given: unknown,
  { names, option, fail }: GivenOption & { readonly names: readonly N[] },
): { readonly [K in N]?: unknown } {
  if (given !== true && !isJsonObject(given)) throw fail(`needs true or an object as "${option}"`);
  const object = given === true ? {} : given;
  const unknown = Object.keys(object).find((name) => !(names as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw fail(`has an unknown option "${option}.${unknown}"${meantBy(unknown, names)}`);
  }
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
 * The types of the fields that an option may list. `"text"` allows only strings, `"scalar"` allows no lists and no
 * objects, and `"any"` allows all types.
 */
export type FieldNeed = "any" | "scalar" | "text";

/**
 * Checks the names of fields in an option, and returns them without duplicates. Throws if a field is hidden from
 * clients, or has a type that the option cannot use.
 */
function checkFields(
  given: unknown,
  { option, need, shape, fail }: GivenOption & { readonly need: FieldNeed; readonly shape: Shape },
): readonly string[] {
  const names = checkKind(given, { kind: "fields", option, fail });
  for (const name of names) {
    const field = shape.fields.get(name);
    const isPossible = need === "any" || field?.kind === "scalar" &&
        (need === "scalar" || field.type?.instance === "String");
    const problem = whyUnseen(field) ??
      (field && !isPossible ? `cannot be used: it holds ${HELD[field.kind]}` : undefined);
    if (problem !== undefined) throw fail(`has "${name}" in "${option}", which ${problem}`);
  }
  return [...new Set(names)];
}

/**
 * The class and the operation in whose declaration an option stands. The checks of the option need them, and `fail`
 * returns the error for a wrong option.
 */
export interface OptionPlace {
  readonly target: ModelClass;
  readonly schema: Schema;
  readonly shape: Shape;
  /**
   * The property of the parent entity that embeds or references the entities of this class. `undefined` if the entities
   * belong to no parent.
   */
  readonly link: PartLink | undefined;
  /**
   * Whether two callers may see different entities, because the route or a parent in its path has a `scope` or
   * `getConnection`. A stored answer for one caller, as for an idempotency key, must not be sent to another caller.
   */
  readonly isDivided: boolean;
  /** All operations of the `@rest` decorator in which the option stands, for rules about two operations. */
  readonly methods: readonly Method[];
  /**
   * The fields that a hook may leave out of the answer. No option may compare their values, because clients could guess
   * the values.
   */
  readonly leftOut: readonly string[];
  /** The hooks that each request has passed before the operation reads entities. */
  readonly passed: readonly PreFetch[];
  /** Whether the router has a guard that requests of the operation need not pass, because the operation is open. */
  readonly skipsGuard: boolean;
  readonly fail: Fail;
}

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** The options and the hooks of an operation by their names, before they are checked. */
export type GivenOptions = Readonly<Record<string, unknown>>;

interface ReaderOf {
  readonly name: string;
  readonly value: unknown;
  readonly others?: GivenOptions;
}

/**
 * The value of an option of an operation, such as `page`, or of one property of the option, such as `page.max`. Each
 * method returns the value in one type, and throws an error with the name of the class and of the option if the value
 * is wrong.
 */
export class OptionReader {
  readonly value: unknown;
  readonly #name: string;
  readonly #place: OptionPlace;
  readonly #others: GivenOptions;

  constructor(place: OptionPlace, { name, value, others = {} }: ReaderOf) {
    this.value = value;
    this.#name = name;
    this.#place = place;
    this.#others = others;
  }

  get #given(): GivenOption {
    return { option: this.#name, fail: this.#place.fail };
  }

  /** Returns the error for a wrong option. The message begins with the name of the class. */
  fail(problem: string): TypeError {
    return this.#place.fail(problem);
  }

  /**
   * Returns the `OptionReader` of another option of the same operation, for rules about two options. Its property
   * `value` is `undefined` if the operation does not have the other option.
   */
  other(name: string): OptionReader {
    return new OptionReader(this.#place, { name, value: this.#others[name] });
  }

  /**
   * Returns an `OptionReader` for each property that an option with an object may have, such as `max` of `page`. Its
   * property `value` is `undefined` if the object does not have the property. Throws if the object has an unknown
   * property.
   */
  parts<N extends string>(...names: readonly N[]): { readonly [K in N]: OptionReader } {
    const object = objectOf(this.value, { ...this.#given, names });
    const readers = names.map((name) =>
      [
        name,
        new OptionReader(this.#place, { name: `${this.#name}.${name}`, value: object[name] }),
      ] as const
    );
    return Object.fromEntries(readers) as { readonly [K in N]: OptionReader };
  }

  /**
   * Returns the value of an option such as `page.max`, which must be a whole number of at least 1. Returns `missing` if
   * the option is absent.
   */
  number(missing?: number): number {
    if (missing !== undefined && (this.value === undefined || this.value === missing)) {
      return missing;
    }
    return checkKind(this.value, { kind: "number", ...this.#given });
  }

  /**
   * Returns the option, which is a time such as `"30d"`, in milliseconds. The error for any other value shows
   * `example`.
   */
  duration(example: Duration): number {
    const [, digits, unit] = /^(\d+)([smhd])$/.exec(String(this.value)) ?? [];
    if (!Number(digits)) throw this.fail(`needs a time such as "${example}" as "${this.#name}"`);
    const duration = Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
    if (duration <= MAX_TTL_SECONDS * UNITS_MS.s) return duration;
    const most = Math.floor(MAX_TTL_SECONDS * UNITS_MS.s / UNITS_MS.d);
    throw this.fail(`has more than "${most}d" as "${this.#name}", the longest time of a TTL index`);
  }

  flag(missing = false): boolean {
    const value = this.value === undefined ? missing : this.value;
    return checkKind(value, { kind: "boolean", ...this.#given });
  }

  /**
   * Returns the option as a list of texts, which may be empty. The argument is the noun for the texts in the error
   * message, such as `formats`.
   */
  list(kind: string): readonly string[] {
    if (isNames(this.value)) return this.value;
    throw this.fail(`needs a list of ${kind} as "${this.#name}"`);
  }

  /**
   * Returns the function of the application in an option such as `trash.see`, or `undefined` if the option is absent.
   * Throws if the value is no function.
   */
  callback<F>(): F | undefined {
    if (this.value === undefined) return undefined;
    checkKind(this.value, { kind: "function", ...this.#given });
    return this.value as F;
  }

  /**
   * Returns the fields in an option with a list of names, such as `sort: ["price"]`. With `isOptional`, an absent
   * option is an empty list. `check` returns the reason why the option cannot have a field, such as `which is no
   * Number`, or `undefined`.
   */
  fields(
    need: FieldNeed,
    { isOptional = false, check = () => undefined }: {
      readonly isOptional?: boolean;
      readonly check?: (field: FieldShape) => string | undefined;
    } = {},
  ): readonly DeclaredField[] {
    if (isOptional && this.value === undefined) return [];
    return this.#checked(this.value, need).map((name) => {
      this.#checkField(name, check);
      return new DeclaredField(name);
    });
  }

  /**
   * Checks one field of an option that is no plain list of names, such as `groups.by: [{ createdAt: "month" }]`, and
   * returns it. The checks are the checks of {@linkcode OptionReader.fields}.
   */
  field(
    name: string,
    need: FieldNeed,
    check: (field: FieldShape) => string | undefined = () => undefined,
  ): DeclaredField {
    this.#checked([name], need);
    this.#checkField(name, check);
    return new DeclaredField(name);
  }

  #checked(value: unknown, need: FieldNeed): readonly string[] {
    const { shape, leftOut, fail } = this.#place;
    const names = checkFields(value, { need, shape, ...this.#given });
    // An option for fields of every type (`"any"`), such as `select`, only shows the fields that the answer has. Other
    // options, such as `sort`, compare values, so clients could guess the values that a hook leaves out of the answer.
    const guessed = need === "any" ? undefined : names.find((name) => leftOut.includes(name));
    if (guessed === undefined) return names;
    throw fail(`has "${guessed}" in "${this.#name}", which a hook leaves out`);
  }

  #checkField(name: string, check: (field: FieldShape) => string | undefined): void {
    const field = this.#place.shape.fields.get(name);
    const problem = field && check(field);
    if (problem === undefined) return;
    throw this.#place.fail(`has "${name}" in "${this.#name}", ${problem}`);
  }
}
