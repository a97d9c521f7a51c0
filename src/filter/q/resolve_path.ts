import { badFormat } from "../../errors/refusals.ts";
import { isFieldKey } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isMongooseType } from "../../schema/mongoose/schemas/field_rules.ts";

/** A field of which nothing is declared. */
export const FREE: FieldShape = {
  ...{ kind: "free", hidden: false, readonly: false, writable: true, selected: true },
};

/** The database stores no objects that are nested deeper. */
const MAX_NAMES = 100;

const INDEX = /^(0|[1-9]\d{0,8})$/;

/** Finds the field that a path names, through objects, maps, arrays and free-form fields. */
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
 * Returns the field that declares a path below another one for the application, which may name fields that clients do not
 * see. Below a field that may hold anything, that is the field itself.
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
  // A type of the application or of a package may hold objects.
  return kind !== "scalar" || type !== undefined && !isMongooseType(type) ? FREE : undefined;
}

/** Leaves out the positions in arrays: a key of a Map may be a number, too. */
function withoutIndexes(path: string, shape: Shape): string {
  let field: FieldShape | undefined = fieldOf(shape);
  const kept: string[] = [];
  for (const name of path.split(".")) {
    if (field?.kind !== "array" || !INDEX.test(name)) kept.push(name);
    field = field && fieldIn(field, name);
  }
  return kept.join(".");
}

/** Gives the fields that a path leads through, each with its own path; none inside of arrays and of free-form data. */
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

/** The paths that filters of clients may name in an operation. */
export class ListedPaths {
  readonly names: readonly string[];
  /** Paths of free-form data and of Maps, with a dot at their end. */
  readonly #open: readonly string[];
  readonly #shape: Shape;

  /** @param names Of these, only those that the shape shows. */
  constructor(names: readonly string[], shape: Shape) {
    this.#shape = shape;
    this.names = names.filter((name) => fieldAt(name, shape) !== undefined);
    this.#open = this.names.filter((name) => {
      const { kind, element } = resolvePath(name, shape);
      return kind === "free" || kind === "map" || kind === "array" && element?.kind === "free";
    }).map((name) => `${name}.`);
  }

  /** Gives those of the paths that others may name, too. */
  under(shape: Shape): ListedPaths {
    return new ListedPaths(this.names, shape);
  }

  /** Whether a path is listed, or below one where every path is. */
  has(path: string): boolean {
    return this.#formsOf(path).some((form) =>
      this.names.includes(form) || this.#open.some((open) => form.startsWith(open))
    );
  }

  /** Whether a listed path is below this one. */
  isBelow(path: string): boolean {
    return this.#formsOf(path).some((form) =>
      this.names.some((name) => name.startsWith(`${form}.`))
    );
  }

  #formsOf(path: string): readonly string[] {
    return [path, withoutIndexes(path, this.#shape)];
  }

  /** @throws {RestError} 400 for a path that is not listed, whether there is such a field or not. */
  refuse(path: string): never {
    const names = this.names.map((name) => `"${name}"`).join(", ");
    throw badFormat(`Field "${path}" cannot be used in "q", which takes ${names}`, { field: path });
  }
}
