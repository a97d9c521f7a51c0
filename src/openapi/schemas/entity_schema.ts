import type { AnswerNode, PopulatedNode } from "../route_node.ts";
import type { FieldNode, ObjectNode } from "../../describe/describe_object.ts";
import { type AnswerObjects, answerValue } from "./answer_value.ts";
import type { Components } from "./components.ts";
import { IDENTIFIER_SCHEMA, type JsonSchema, orNull } from "./json_schema.ts";
import { objectOf } from "./object_schema.ts";

/** The suffix tells how an answer changes the entity. */
export function entityName({ isHooked, isSelected, lacks, populated }: AnswerNode): string {
  const words = [
    !isHooked && lacks.length > 0 && "Reduced",
    isSelected && "Selected",
    populated.size > 0 && "Populated",
    isHooked && "Sent",
  ];
  return words.filter((word) => word !== false).join("");
}

export function entityDetail({ isHooked, isSelected, lacks, populated }: AnswerNode): string {
  const targets = [...populated].map((
    [name, { select, always }],
  ) => [name, select ?? null, always]);
  return JSON.stringify([isHooked, isSelected, targets, [...lacks].sort()]);
}

/** A field that a selection or a hook can leave out is not required. */
export function describeEntity(
  { object, isHooked, isSelected, lacks, populated }: AnswerNode,
  components: Components,
): JsonSchema {
  const fields = object.fields.map((field): FieldNode => ({
    ...field,
    required: !isHooked && field.required && !lacks.includes(field.name) &&
      (!isSelected || field.name === "_id"),
  }));
  const objects = isHooked ? hookedObjects(components) : components;
  const schema = objectOf(fields, (field) => {
    const target = populated.get(field.name);
    if (target === undefined) return answerValue(field, objects);
    const value = populatedValue(field, { target, components });
    return isHooked ? orNull(value) : value;
  });
  if (!isHooked) return schema;
  const description = "The entity after its hooks. Hooks may remove, clear and add fields";
  return { ...schema, description };
}

/** Hooks may also change embedded objects, so their fields are not required. */
function hookedObjects(components: Components): AnswerObjects {
  const others = { isHooked: true, isSelected: false, lacks: [], populated: new Map() };
  return { isHooked: true, object: (object) => components.entity({ object, ...others }) };
}

interface Populated {
  readonly target: PopulatedNode;
  readonly components: Components;
}

export function identifierField(entity: ObjectNode | undefined): FieldNode | undefined {
  return entity?.fields.find(({ name }) => name === "_id");
}

/** A populated reference is `null` if its entity no longer exists. */
export function populatedValue(field: FieldNode, { target, components }: Populated): JsonSchema {
  const { always } = target;
  const entity = targetEntity({ target, components });
  if (field.type === "Map") return { type: "object", additionalProperties: orNull(entity) };
  const id = identifierField(target.object);
  const named = id === undefined ? IDENTIFIER_SCHEMA : answerValue(id, components);
  const value = always ? entity : { anyOf: [entity, named] };
  return field.type === "Array" ? { type: "array", items: orNull(value) } : orNull(value);
}

function targetEntity({ target: { object, select }, components }: Populated): JsonSchema {
  if (object === undefined) return { type: "object" };
  if (select === undefined) return components.object(object);
  const names = new Set(["_id", ...select]);
  const fields = object.fields.filter(({ name }) => names.has(name));
  return components.add(object, {
    name: `${object.model}Reference`,
    detail: [...names].sort().join(),
    describe: () => objectOf(fields, (field) => answerValue(field, components)),
  });
}
