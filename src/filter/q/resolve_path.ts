import { badFormat } from "../../errors/refusals.ts";
import { isFieldKey } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isMongooseType } from "../../schema/mongoose/schemas/field_rules.ts";

/**
 * The shape of a value for which the schema declares nothing, such as a value in free-form data. A filter may name any
 * path below such a value.
 */
export const FREE: FieldShape = {
  kind: "free",
  hidden: false,
  readonly: false,
  writable: true,
  selected: true,
};

/**
 * The maximum number of names in a path. MongoDB stores objects that are at most 100 levels deep, so a longer path is
 * refused as unknown.
 */
const MAX_NAMES = 100;

const INDEX = /^(0|[1-9]\d{0,8})$/;

/**
 * Returns the field that a path of a client names. The path may lead through objects, maps, arrays and free-form
 * fields. Throws a 400 if the path names no field, or a field that clients cannot see. Both errors are equal, so that a
 * client cannot find hidden fields.
 */
export function resolvePath(path: string, shape: Shape | undefined): FieldShape {
  const field = fieldAt(path, shape);
  if (field === undefined) throw badFormat(`Field "${path}" is unknown`, { field: path });
  return field;
}

function fieldAt(path: string, shape: Shape | undefined): FieldShape | undefined {
  const names = path.split(".");
  const isPath = names.length <= MAX_NAMES &&
    names.every((name) => name !== "" && isFieldKey(name));
  return isPath
    ? names.reduce<FieldShape | undefined>(
      (field, name) => field && fieldIn(field, name),
      fieldOf(shape),
    )
    : undefined;
}

export function fieldOf(shape: Shape | undefined): FieldShape {
  return shape === undefined ? FREE : { ...FREE, kind: "object", shape };
}

function fieldIn(field: FieldShape, name: string): FieldShape | undefined {
  const { kind, shape, element = FREE } = field;
  switch (kind) {
    case "free":
      return field;
    case "object": {
      const inner = shape?.fields.get(name);
      return inner === undefined || inner.hidden || !inner.selected ? undefined : inner;
    }
    case "map":
      return element;
    case "array":
      return INDEX.test(name) ? element : fieldIn(element, name);
    default:
      return undefined;
  }
}

/**
 * Returns the field that declares a path below `field`. Returns `undefined` if the schema declares no such path, so
 * that the filter is refused. Filters of hooks and scopes use this function, because they may name fields that clients
 * do not see. Below a field that may hold any value, the result is {@linkcode FREE}.
 */
export function fieldDeclaredIn(field: FieldShape, path: string): FieldShape | undefined {
  return path.split(".").reduce<FieldShape | undefined>(
    (holder, name) => holder && declaredIn(holder, name),
    field,
  );
}

function declaredIn(field: FieldShape, name: string): FieldShape | undefined {
  const { kind, shape, element = FREE, type } = field;
  if (kind === "array") return INDEX.test(name) ? element : declaredIn(element, name);
  if (kind === "object") {
    return shape?.fields.get(name) ?? (shape?.declares(name) ? FREE : undefined);
  }
  // A schema type of the application or of a package may store objects whose fields the schema does not declare. So
  // every path below such a field is accepted.
  return kind !== "scalar" || type !== undefined && !isMongooseType(type) ? FREE : undefined;
}

/**
 * Removes the indexes of array elements from a path, so that `tags.0` is allowed if the option `filter` has `tags`. A
 * number stays if it is the key of a Map.
 */
function withoutIndexes(path: string, shape: Shape): string {
  let field: FieldShape | undefined = fieldOf(shape);
  const kept: string[] = [];
  for (const name of path.split(".")) {
    if (field?.kind !== "array" || !INDEX.test(name)) kept.push(name);
    field = field && fieldIn(field, name);
  }
  return kept.join(".");
}

/**
 * Returns the fields that a path leads through, each with its path. The list ends with the first array or free-form
 * field, so names after such a field have no entry.
 */
export function fieldsOn(path: string, shape: Shape): [path: string, field: FieldShape][] {
  const found: [string, FieldShape][] = [];
  let holder: Partial<FieldShape> = { shape };
  for (const [index, name] of path.split(".").entries()) {
    const field = holder.kind === "map" ? holder.element : holder.shape?.fields.get(name);
    if (field === undefined) break;
    found.push([index === 0 ? name : `${found.at(-1)?.[0]}.${name}`, field]);
    if (field.kind !== "object" && field.kind !== "map") break;
    holder = field;
  }
  return found;
}

/** The paths in the option `filter` of an operation. The filter `q` of a client may name no other path. */
export class ListedPaths {
  readonly names: readonly string[];
  /**
   * The prefixes of the paths below the Maps and the free-form fields in the option `filter`, such as `labels.` for the
   * Map `labels`. The keys of a Map are not declared, so a filter may name every path with such a prefix.
   */
  readonly #open: readonly string[];
  readonly #shape: Shape;

  /** @param names The paths of the option. Paths that the shape hides are dropped. */
  constructor(names: readonly string[], shape: Shape) {
    this.#shape = shape;
    this.names = names.filter((name) => fieldAt(name, shape) !== undefined);
    this.#open = this.names.filter((name) => {
      const { kind, element } = resolvePath(name, shape);
      return kind === "free" || kind === "map" || kind === "array" && element?.kind === "free";
    }).map((name) => `${name}.`);
  }

  /**
   * Returns the paths that a reader with fewer rights may name in a filter. Paths that are hidden from this reader are
   * left out.
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

  /**
   * Whether the option `filter` has a longer path that begins with the given path. A condition on an array may then use
   * `$elemMatch` to name the fields of its elements.
   */
  isBelow(path: string): boolean {
    return this.#formsOf(path).some((form) =>
      this.names.some((name) => name.startsWith(`${form}.`))
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
