import type { Schema } from "mongoose";
import type { Fail } from "../../pipeline/option_reader.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { IDENTIFIER_TYPES } from "../../schema/fields/system_fields.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import { hasDefault, isGivenId } from "../../schema/mongoose/schemas/field_rules.ts";

const CURE = "declare it as String, Number or UUID, or leave it out for an ObjectId";

export function checkIdentifier(schema: Schema, fail: Fail): void {
  const field = describeShape(schema).fields.get("_id");
  if (field === undefined) throw fail(`it has no "_id": ${CURE}`);
  const { instance } = field.type ?? {};
  if (field.kind !== "scalar" || !IDENTIFIER_TYPES.includes(instance ?? "")) {
    throw fail(`its "_id" is of the type ${instance ?? "Object"}: ${CURE}`);
  }
  const isMade = hasDefault(field.type);
  if (!isMade && !isGivenId(schema)) {
    throw fail(`nothing gives the "_id" of new entities: give the class a @rest, or a "default"`);
  }
  const unseen = whyUnseen(field);
  if (unseen !== undefined) throw fail(`its "_id" ${unseen}, and paths name entities by it`);
}
