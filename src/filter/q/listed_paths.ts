import { badFormat } from "../../errors/refusals.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { findReferred, type ReferredPath } from "./referred_path.ts";
import { fieldAt, withoutIndexes } from "./resolve_path.ts";

export class ListedPaths {
  readonly names: readonly string[];
  /** Listed paths through a reference, such as `author.name`. */
  readonly referred: ReadonlyMap<string, ReferredPath>;
  /** The keys of Maps and free-form fields are undeclared, so every path below these prefixes may be named. */
  readonly #open: readonly string[];
  readonly #shape: Shape;

  /** Drops hidden paths, so that a filter cannot reveal their values. */
  constructor(names: readonly string[], shape: Shape) {
    this.#shape = shape;
    const fields = names.map((name) => [name, fieldAt(name, shape)] as const);
    this.referred = new Map(fields.flatMap(([name, field]) => {
      const referred = field === undefined ? findReferred(name, shape) : undefined;
      return referred === undefined ? [] : [[name, referred]];
    }));
    this.names = fields.flatMap(([name, field]) =>
      field === undefined && !this.referred.has(name) ? [] : [name]
    );
    this.#open = fields.flatMap(([name, field]) => {
      const { kind, element } = field ?? {};
      const isOpen = kind === "free" || kind === "map" ||
        kind === "array" && element?.kind === "free";
      return isOpen ? [`${name}.`] : [];
    });
  }

  under(shape: Shape): ListedPaths {
    return new ListedPaths(this.names, shape);
  }

  has(path: string): boolean {
    return this.#formsOf(path).some((form) =>
      this.names.includes(form) || this.#open.some((open) => form.startsWith(open))
    );
  }

  isReferred(path: string): boolean {
    return this.referred.size > 0 && this.#formsOf(path).some((form) => this.referred.has(form));
  }

  /** `true` if a listed path lies below this array, which allows `$elemMatch`. */
  isBelow(path: string): boolean {
    return this.#formsOf(path).some((form) =>
      this.names.some((name) =>
        name.startsWith(`${form}.`) && form.length < (this.referred.get(name)?.path ?? name).length
      )
    );
  }

  #formsOf(path: string): readonly string[] {
    return [path, withoutIndexes(path, this.#shape)];
  }

  /** The error does not reveal whether the schema has the field. */
  refuse(path: string): never {
    const names = this.names.map((name) => `"${name}"`).join(", ");
    throw badFormat(`Field "${path}" cannot be used in "q", which takes ${names}`, { field: path });
  }
}
