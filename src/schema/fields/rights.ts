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
export const NO_RIGHTS = new Rights(new Map());

/** Shows what any reader may see: for what is told before a request comes. */
export const ALL_RIGHTS = new Rights(new Map(), false);

/** A function of a field, by the path of the field. */
export type Restrictions = ReadonlyMap<FieldRule, string>;

/** Finds the functions of the fields of a shape, of all that it embeds, and of all that its references lead to. */
export function restrictionsIn(shape: Shape): Restrictions {
  const found = new Map<FieldRule, string>();
  collect(shape, { found, seen: new Set(), prefix: "" });
  return found;
}

interface Search {
  readonly found: Map<FieldRule, string>;
  readonly seen: Set<Shape>;
  readonly prefix: string;
}

function collect(shape: Shape | undefined, search: Search): void {
  if (shape === undefined || search.seen.has(shape)) return;
  search.seen.add(shape);
  for (const [name, field] of shape.fields) {
    collectField(field, { ...search, path: `${search.prefix}${name}` });
  }
  for (const [name, joined] of shape.joined) {
    collect(joined, { ...search, prefix: `${search.prefix}${name}.` });
  }
}

function collectField(
  field: FieldShape,
  { path, ...search }: Search & { readonly path: string },
): void {
  for (const option of functionsOf(field)) {
    if (!search.found.has(option)) search.found.set(option, path);
  }
  const below = { ...search, prefix: `${path}.` };
  collect(field.shape, below);
  collect(field.populated, below);
  if (field.element !== undefined) collectField(field.element, { ...search, path });
}

function functionsOf({ type }: FieldShape): FieldRule[] {
  const { hidden, readonly }: Readonly<Record<string, unknown>> = type?.options ?? {};
  return [hidden, readonly].filter((option) => typeof option === "function") as FieldRule[];
}

export function isHiddenFromSome({ type }: FieldShape): boolean {
  return typeof type?.options.hidden === "function";
}
