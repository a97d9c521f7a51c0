import { describeModel } from "../declare/model/describe_model.ts";
import type { FieldRecord, RestRecord } from "../declare/model/records.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { fieldKind, isModelClass, resolveRef } from "./build_field.ts";
import { buildSchema } from "./build_schema.ts";
import { isRequired } from "./mongoose/schemas/field_rules.ts";

export interface PartLink {
  readonly owner: ModelClass;
  readonly property: string;
  readonly array: boolean;
  /** `false` if the parent stores only the identifier of the part. */
  readonly embedded: boolean;
  readonly required: boolean;
}

export interface PartDescription {
  readonly link: PartLink;
  readonly target: ModelClass;
  readonly rest: RestRecord;
}

export function describeParts(owner: ModelClass): PartDescription[] {
  const { fields, parts } = describeModel(owner);
  return [...parts].flatMap(([property, rests]) => {
    const held = describeHeld(owner, fields.get(property));
    if (held === undefined) {
      throw new TypeError(
        `Cannot mount "${owner.name}": property "${property}" has @rest and holds no model`,
      );
    }
    return rests.map((rest) => ({ ...held, rest }));
  });
}

function describeHeld(
  owner: ModelClass,
  field: FieldRecord | undefined,
): Omit<PartDescription, "rest"> | undefined {
  if (field === undefined) return undefined;
  const { name: property, array, options } = field;
  const required = isRequired(buildSchema(owner).schema.path(property));
  const common = { owner, property, array, required };
  const ref = resolveRef(field);
  if (typeof ref === "function") return { link: { ...common, embedded: false }, target: ref };
  const kind = fieldKind(array ? options.items : options.type);
  if (!isModelClass(kind)) return undefined;
  const embedded = !array || options.embedded === true;
  return { link: { ...common, embedded }, target: kind };
}
