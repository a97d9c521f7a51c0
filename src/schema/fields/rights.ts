import type { Schema } from "mongoose";
import type { FieldRule } from "../../declare/decorators/field_options.ts";
import type { FieldShape, Shape } from "./shape.ts";

/**
 * The results of the functions `hidden` and `readonly` for one kind of reader. The results decide which fields the
 * reader sees and which fields a body of the reader may set.
 */
export class Rights {
  /**
   * The shapes that were described for these rights, by schema, so that a schema is described once for each kind of
   * reader.
   */
  readonly shapes = new WeakMap<Schema, Shape>();
  readonly #told: ReadonlyMap<unknown, boolean>;
  readonly #others: boolean;

  /**
   * Makes the rights of one kind of reader from the results of the functions in the options `hidden` and `readonly` of
   * fields.
   *
   * @param told The results of the functions for this reader.
   * @param others The result of all functions that are not in `told`. The default `true` hides or locks their fields.
   */
  constructor(told: ReadonlyMap<FieldRule, boolean>, others = true) {
    this.#told = told;
    this.#others = others;
  }

  /**
   * Whether the option `hidden` or `readonly` of a field restricts the reader. The option is `true`, or a function with
   * the result `true`.
   */
  restricts(option: unknown): boolean {
    return typeof option === "function" ? this.#told.get(option) ?? this.#others : option === true;
  }
}

/**
 * The rights for code in which no reader is known. Every function counts as restricting, so a field that is hidden from
 * some readers stays hidden.
 */
export const MOST_RESTRICTED = new Rights(new Map());

/**
 * The rights under which no function restricts a reader. Descriptions that are built before a request use these rights,
 * because a description must contain every field that some reader may see.
 */
export const UNRESTRICTED = new Rights(new Map(), false);

/**
 * The functions in the options `hidden` and `readonly` of the fields of a model. The map contains the path of the field
 * for each function, for error messages.
 */
export type Restrictions = ReadonlyMap<FieldRule, string>;

/**
 * Returns the functions `hidden` and `readonly` that decide about the fields of a model. The result includes the
 * functions of its discriminators, of its embedded objects and of its references, because responses may contain their
 * fields as well.
 */
export function restrictionsIn(root: Shape): Restrictions {
  const found = new Map<FieldRule, string>();
  const seen = new Set<Shape>();
  const search = (shape: Shape | undefined, prefix: string): void => {
    if (shape === undefined || seen.has(shape)) return;
    seen.add(shape);
    for (const [name, field] of shape.fields) searchField(field, `${prefix}${name}`);
    for (const [name, joined] of shape.joined) search(joined, `${prefix}${name}.`);
    for (const kind of shape.kinds.values()) search(kind, prefix);
  };
  const searchField = ({ type, shape, populated, element }: FieldShape, path: string): void => {
    const { hidden, readonly }: { hidden?: FieldRule; readonly?: FieldRule } = type?.options ?? {};
    for (const option of [hidden, readonly]) {
      if (typeof option === "function" && !found.has(option)) found.set(option, path);
    }
    search(shape, `${path}.`);
    search(populated, `${path}.`);
    if (element !== undefined) searchField(element, path);
  };
  search(root, "");
  return found;
}

export function isHiddenFromSome({ type }: FieldShape): boolean {
  return typeof type?.options.hidden === "function";
}
