import { badFormat } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { resolvePath } from "./resolve_path.ts";

/** An index of an array, anywhere in a path but at its start. */
const INDEX = /\.\d+(?=\.|$)/g;

/** The paths that filters of clients may name in an operation. */
export class ListedPaths {
  readonly names: readonly string[];
  readonly #names: ReadonlySet<string>;
  /** Paths of free-form data and of Maps, with a dot at their end. */
  readonly #open: readonly string[];

  /** @param names Of these, only those that the shape shows. */
  constructor(names: readonly string[], shape: Shape) {
    const open: string[] = [];
    this.names = names.filter((name) => {
      const kind = kindAt(name, shape);
      if (kind === "free" || kind === "map") open.push(`${name}.`);
      return kind !== undefined;
    });
    this.#names = new Set(this.names);
    this.#open = open;
  }

  /** Gives those of the paths that others may name, too. */
  under(shape: Shape): ListedPaths {
    return new ListedPaths(this.names, shape);
  }

  /** @throws {RestError} 400 for a path that is not listed, whether there is such a field or not. */
  check(path: string): void {
    const bare = path.replaceAll(INDEX, "");
    if (this.#names.has(path) || this.#names.has(bare)) return;
    if (this.#open.some((open) => path.startsWith(open) || bare.startsWith(open))) return;
    const names = this.names.map((name) => `"${name}"`).join(", ");
    throw badFormat(`Field "${path}" cannot be used in "q", which takes ${names}`, { field: path });
  }
}

/** The kind of the field at a path, that of the elements of an array; `undefined` if clients see no such field. */
function kindAt(path: string, shape: Shape): string | undefined {
  try {
    const { kind, element } = resolvePath(path, shape);
    return kind === "array" && element?.kind === "free" ? "free" : kind;
  } catch (error) {
    if (error instanceof RestError) return undefined;
    throw error;
  }
}
