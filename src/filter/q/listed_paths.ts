import { badFormat } from "../../errors/refusals.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { findReferred, type ReferredPath } from "./referred_path.ts";
import { fieldAt, withoutIndexes } from "./resolve_path.ts";

/** The paths in the option `filter` of an operation. The filter `q` of a client may name no other path. */
export class ListedPaths {
  readonly names: readonly string[];
  /**
   * The paths in the option `filter` that lead through a reference, such as `author.name`. A client may name no other
   * path through a reference, because the start-up checks the hooks of the referred class for these paths only.
   */
  readonly referred: ReadonlyMap<string, ReferredPath>;
  /**
   * The prefixes of the paths below the Maps and the free-form fields in the option `filter`, such as `labels.` for the
   * Map `labels`. The keys of a Map are not declared, so a filter may name every path with such a prefix.
   */
  readonly #open: readonly string[];
  readonly #shape: Shape;

  /** @param names The paths of the option. Paths that the shape hides are dropped. */
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

  /**
   * Returns the paths of the option `filter` that a client with another shape may name. Paths that this shape hides are
   * left out, so that a filter cannot reveal hidden values.
   */
  under(shape: Shape): ListedPaths {
    return new ListedPaths(this.names, shape);
  }

  /**
   * Whether a filter may name a path, because the option `filter` has the path, or has a Map or a free-form field that
   * contains it.
   */
  has(path: string): boolean {
    return this.#formsOf(path).some((form) =>
      this.names.includes(form) || this.#open.some((open) => form.startsWith(open))
    );
  }

  /** Whether a path is in the option `filter` and leads through a reference. */
  isReferred(path: string): boolean {
    return this.referred.size > 0 && this.#formsOf(path).some((form) => this.referred.has(form));
  }

  /**
   * Whether the option `filter` has a path to a field inside of the value at the given path, without a reference on the
   * way. A condition on an array may then use `$elemMatch` to name the fields of its elements.
   */
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

  /**
   * Throws a 400 for a path that is not in the option `filter`. The message names all allowed paths.
   *
   * @throws {RestError} 400. The answer does not reveal whether the schema has such a field.
   */
  refuse(path: string): never {
    const names = this.names.map((name) => `"${name}"`).join(", ");
    throw badFormat(`Field "${path}" cannot be used in "q", which takes ${names}`, { field: path });
  }
}
