import type { StandardResult, StandardSchema } from "../../declare/decorators/field_options.ts";
import { isJsonObject, type JsonObject } from "../../schema/fields/json.ts";

const VERSION = { type: "integer", minimum: 0 };

const RECORDS: JsonObject = {
  type: "array",
  items: {
    type: "object",
    properties: {
      version: { ...VERSION, description: "The version of the entity after the write" },
      at: { type: "string", format: "date-time" },
      actor: { description: "The sender of the write, if it is known" },
      via: { type: "string", description: "The means of the sender, such as a key" },
      actorName: { type: "string", description: "The name of the sender, for `names`" },
      operation: { type: "string", description: "The name of the operation or action" },
      changed: { type: "array", items: { type: "string" } },
      before: { type: "object", description: "The values that the write has replaced" },
    },
    required: ["version", "at", "operation", "changed", "before"],
  },
};

const BODY: JsonObject = {
  type: "object",
  properties: { version: VERSION },
  required: ["version"],
  additionalProperties: false,
};

export const RECORD_SCHEMA: StandardSchema = schemaOf(RECORDS, (value) => ({ value }));

export const REVERT_BODY: StandardSchema = schemaOf(BODY, (value) => {
  const { version, ...others } = isJsonObject(value) ? value : {};
  const [other] = Object.keys(others);
  if (other !== undefined) {
    return { issues: [{ message: `There is no field "${other}"`, path: [other] }] };
  }
  if (Number.isSafeInteger(version) && Number(version) >= 0) return { value: version };
  return { issues: [{ message: `"version" is a whole number from 0`, path: ["version"] }] };
});

type WithJsonSchema = StandardSchema["~standard"] & { readonly jsonSchema: object };

function schemaOf(
  schema: JsonObject,
  validate: (value: unknown) => StandardResult,
): StandardSchema {
  const jsonSchema = { input: () => schema, output: () => schema };
  const standard: WithJsonSchema = { version: 1, vendor: "mongrove", validate, jsonSchema };
  return { "~standard": standard };
}
