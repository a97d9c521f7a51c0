import type { Schema } from "mongoose";
import type { FieldRule } from "../../declare/decorators/field_options.ts";
import type { FieldShape, Shape } from "./shape.ts";

export class Rights {
  readonly shapes = new WeakMap<Schema, Shape>();
  readonly #answers: ReadonlyMap<unknown, boolean>;
  readonly #others: boolean;

  /** @param others The answer of functions that `answers` lacks. By default, they restrict their fields. */
  constructor(answers: ReadonlyMap<FieldRule, boolean>, others = true) {
    this.#answers = answers;
    this.#others = others;
  }

  restricts(option: unknown): boolean {
    return typeof option === "function"
      ? this.#answers.get(option) ?? this.#others
      : option === true;
  }
}

/** For an unknown reader: every `hidden` or `readonly` function restricts its field. */
export const MOST_RESTRICTED = new Rights(new Map());

/** For descriptions from before a request: no function restricts its field. */
export const UNRESTRICTED = new Rights(new Map(), false);

export type Restrictions = ReadonlyMap<FieldRule, string>;

export function restrictionsIn(root: Shape): Restrictions {
  const found = new Map<FieldRule, string>();
  const visited = new Set<Shape>();
  const search = (shape: Shape | undefined, prefix: string): void => {
    if (shape === undefined || visited.has(shape)) return;
    visited.add(shape);
    for (const [name, field] of shape.fields) searchField(field, `${prefix}${name}`);
    for (const [name, referred] of shape.virtualShapes) search(referred, `${prefix}${name}.`);
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
