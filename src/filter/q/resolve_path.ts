import { badFormat } from "../../errors/refusals.ts";
import { isFieldKey } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isMongooseType } from "../../schema/mongoose/schemas/field_rules.ts";

/** A filter may name any path below a free-form value. */
export const FREE: FieldShape = {
  kind: "free",
  hidden: false,
  readonly: false,
  writable: true,
  selected: true,
};

/** MongoDB stores objects of at most 100 levels. */
const MAX_NAMES = 100;

export const INDEX = /^(0|[1-9]\d{0,8})$/;

/** Missing and hidden fields cause the same error, so that a client cannot find hidden ones. */
export function resolvePath(path: string, shape: Shape | undefined): FieldShape {
  const field = fieldAt(path, shape);
  if (field === undefined) throw badFormat(`Field "${path}" is unknown`, { field: path });
  return field;
}

export function fieldAt(path: string, shape: Shape | undefined): FieldShape | undefined {
  return namesIn(path)?.reduce<FieldShape | undefined>(
    (field, name) => field && fieldIn(field, name),
    fieldOf(shape),
  );
}

export function namesIn(path: string): string[] | undefined {
  const names = path.split(".");
  const isPath = names.length <= MAX_NAMES &&
    names.every((name) => name !== "" && isFieldKey(name));
  return isPath ? names : undefined;
}

export function fieldOf(shape: Shape | undefined): FieldShape {
  return shape === undefined ? FREE : { ...FREE, kind: "object", shape };
}

export function fieldIn(field: FieldShape, name: string): FieldShape | undefined {
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

/** Hooks and scopes may name fields that clients do not see. */
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
  // A schema type of the application may store objects, so any path below counts as declared.
  return kind !== "scalar" || type !== undefined && !isMongooseType(type) ? FREE : undefined;
}

/** Removes array positions, but keeps a number that is the key of a Map. */
export function withoutIndexes(path: string, shape: Shape): string {
  let field: FieldShape | undefined = fieldOf(shape);
  const kept: string[] = [];
  for (const name of path.split(".")) {
    if (field?.kind !== "array" || !INDEX.test(name)) kept.push(name);
    field = field && fieldIn(field, name);
  }
  return kept.join(".");
}

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
