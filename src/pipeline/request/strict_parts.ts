import { isGroup } from "../../errors/option_kinds.ts";
import { unknownOption } from "../../errors/unknown_option.ts";

/** @internal The parts of the option `strict` of `Framework.initialize()`, each on by default. */
export interface StrictOptions {
  /** Whether URL parameters that the operation does not declare answer 400. */
  readonly parameters?: boolean;
  /**
   * Whether a body answers 400 if it has an undeclared key, a key that the caller cannot set, or a value of another
   * JSON type than its field. A visible key that the caller cannot set may have its stored value, so that a client can
   * send back an entity.
   */
  readonly bodies?: boolean;
  /**
   * Whether each operation needs the `guard` of the router, a `preFetch` hook, or `open: true`. A write below an entity
   * is then a change of this entity, which the hooks of its `update()` guard.
   */
  readonly guards?: boolean;
  /** Whether each `all()` needs the option `page`, which can be `false`. */
  readonly lists?: boolean;
  /**
   * Whether `removeAll()` needs the parameter `q`, unless the operation has `q: "optional"`, and removes at most 1000
   * entities, unless it has another `max`.
   */
  readonly removals?: boolean;
}

export type StrictParts = Readonly<Required<StrictOptions>>;

const PARTS: Readonly<Record<keyof StrictOptions, true>> = {
  parameters: true,
  bodies: true,
  guards: true,
  lists: true,
  removals: true,
};

export function completeStrict(given: unknown = false): StrictParts {
  if (typeof given !== "boolean" && !isGroup(given)) {
    throw new TypeError(`Cannot initialize: "strict" is neither a boolean nor an object`);
  }
  const options: StrictOptions = typeof given === "boolean" ? {} : given;
  const unknown = unknownOption(options, PARTS);
  if (unknown !== undefined) {
    throw new TypeError(`Cannot initialize: "strict" has no option ${unknown}`);
  }
  const parts = Object.keys(PARTS).map((name) => {
    const part: unknown = options[name as keyof StrictOptions];
    const value = part === undefined ? given !== false : part;
    if (typeof value === "boolean") return [name, value];
    throw new TypeError(`Cannot initialize: "strict.${name}" is not a boolean`);
  });
  return Object.fromEntries(parts);
}
