import type { Schema } from "mongoose";
import type { PreFetch } from "../declare/hooks/hooks.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { type Duration, durationMS } from "../declare/model/duration.ts";
import type { Method } from "../declare/operations/methods.ts";
import { isNames, type Kind, KINDS, MAX_TTL_SECONDS } from "../errors/option_kinds.ts";
import { meantBy } from "../errors/unknown_option.ts";
import type { PartLink } from "../schema/describe_parts.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { whyUnseen } from "../schema/fields/visibility.ts";
import { DeclaredField } from "./feature.ts";

export type Fail = (problem: string) => TypeError;

export function cannotMount({ name }: ModelClass, problem: string): TypeError {
  return new TypeError(`Cannot mount "${name}": ${problem}`);
}

interface GivenOption {
  readonly option: string;
  readonly fail: Fail;
}

type Checked<K extends Kind> = typeof KINDS[K][1] extends (value: unknown) => value is infer T ? T
  : never;

export function checkOptionKind<K extends Kind>(
  value: unknown,
  { kind, option, fail }: GivenOption & { readonly kind: K },
): Checked<K> {
  const [words, isOfKind] = KINDS[kind];
  if (!isOfKind(value)) throw fail(`needs ${words} as "${option}"`);
  return value as Checked<K>;
}

/** `true` is an object without keys. An unknown key throws, because a misspelled one would have no effect. */
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

export type FieldNeed = "any" | "scalar" | "text";

function checkFields(
  given: unknown,
  { option, need, shape, fail }: GivenOption & { readonly need: FieldNeed; readonly shape: Shape },
): readonly string[] {
  const names = checkOptionKind(given, { kind: "fields", option, fail });
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

export interface OptionPlace {
  readonly target: ModelClass;
  readonly schema: Schema;
  readonly shape: Shape;
  readonly link: PartLink | undefined;
  /** Whether a `scope` or `getConnection` separates callers, so that they cannot share an answer. */
  readonly isDivided: boolean;
  readonly methods: readonly Method[];
  /** Fields that a hook may leave out of the answer. */
  readonly leftOut: readonly string[];
  /** The hooks that each request has passed before the first read. */
  readonly passed: readonly PreFetch[];
  readonly skipsGuard: boolean;
  readonly fail: Fail;
}

const DAY_MS = 86_400_000;

export type GivenOptions = Readonly<Record<string, unknown>>;

interface ReaderOf {
  readonly name: string;
  readonly value: unknown;
  readonly others?: GivenOptions;
}

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

  fail(problem: string): TypeError {
    return this.#place.fail(problem);
  }

  other(name: string): OptionReader {
    return new OptionReader(this.#place, { name, value: this.#others[name] });
  }

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

  number(missing?: number): number {
    if (missing !== undefined && (this.value === undefined || this.value === missing)) {
      return missing;
    }
    return checkOptionKind(this.value, { kind: "number", ...this.#given });
  }

  /** The result is in milliseconds. */
  duration(example: Duration): number {
    const duration = durationMS(this.value);
    if (duration === undefined) {
      throw this.fail(`needs a time such as "${example}" as "${this.#name}"`);
    }
    if (duration <= MAX_TTL_SECONDS * 1000) return duration;
    const most = Math.floor(MAX_TTL_SECONDS * 1000 / DAY_MS);
    throw this.fail(`has more than "${most}d" as "${this.#name}", the longest time of a TTL index`);
  }

  flag(missing = false): boolean {
    const value = this.value === undefined ? missing : this.value;
    return checkOptionKind(value, { kind: "boolean", ...this.#given });
  }

  list(kind: string): readonly string[] {
    if (isNames(this.value)) return this.value;
    throw this.fail(`needs a list of ${kind} as "${this.#name}"`);
  }

  callback<F>(): F | undefined {
    if (this.value === undefined) return undefined;
    checkOptionKind(this.value, { kind: "function", ...this.#given });
    return this.value as F;
  }

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
    // Options whose need is not `"any"` compare values, so clients could guess a value that a hook leaves out.
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
