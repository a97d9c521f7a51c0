import type { Schema } from "mongoose";
import type { FieldRule } from "../../declare/decorators/field_options.ts";
import type { FieldShape, Shape } from "./shape.ts";

/** The fields that the reader of a request cannot see, and those that he cannot set, by the functions of the fields. */
export class Rights {
  /** Shapes are kept with the rights they are of. */
  readonly shapes = new WeakMap<Schema, Shape>();
  readonly #told: ReadonlyMap<unknown, boolean>;
  readonly #others: boolean;

  /** @param others What holds for functions that were not asked. */
  constructor(told: ReadonlyMap<FieldRule, boolean>, others = true) {
    this.#told = told;
    this.#others = others;
  }

  /** Whether an option of a field holds: `true`, or a function that has told so. */
  restricts(option: unknown): boolean {
    return typeof option === "function" ? this.#told.get(option) ?? this.#others : option === true;
  }
}

/** The rights of nobody in particular: what any reader may be kept from stays hidden. */
export const MOST_RESTRICTED = new Rights(new Map());

/** Shows what any reader may see: for what is told before a request comes. */
export const UNRESTRICTED = new Rights(new Map(), false);

/** A function of a field, by the path of the field. */
export type Restrictions = ReadonlyMap<FieldRule, string>;

/** Finds the functions of the fields of a shape, of its kinds, of all that it embeds, and of all that its references lead to. */
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
