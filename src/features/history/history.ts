import { isHookName } from "../../declare/operations/operation.ts";
import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { Method } from "../../declare/operations/methods.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { ClassFeature } from "../../pipeline/class_feature.ts";
import type { ClassMethod } from "../../pipeline/class_methods.ts";
import { cannotMount } from "../../pipeline/option_reader.ts";
import { untypedModel } from "../../schema/get_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { versionKeyOf } from "../../schema/fields/system_fields.ts";
import { HISTORY_PAGE, readHistory } from "./read_history.ts";
import { keepFor } from "./history_indexes.ts";
import { addRecords } from "./records.ts";
import { revert } from "./revert.ts";
import type { StandardResult, StandardSchema } from "../../declare/decorators/field_options.ts";
import { isJsonObject, type JsonObject } from "../../schema/fields/json.ts";

export interface HistoryConfig {
  readonly keepMS?: number;
}

export const history: ClassFeature<HistoryConfig> = {
  name: "history",
  settings: ({ actorNames }) => actorNames,
  check(option) {
    const { keep } = option.parts("keep");
    return keep.value === undefined ? {} : { keepMS: keep.duration("90d") };
  },
  start(config, { target, route }) {
    checkRoutes(target);
    // With `getConnection`, no connection is known at the start, so the first write builds the indexes.
    if (route.getConnection === undefined) {
      keepFor(untypedModel(target), config);
    }
    const persisting = route.levels.at(-1);
    if (persisting?.target !== target || persisting.hooks.persist === undefined) return;
    throw cannotMount(
      target,
      `"history" cannot record what the hook "persist" of ${persisting.operation}() writes`,
    );
  },
  methods: (_config, { methods }) => [...historyMethods(methods), ...revertMethods(methods)],
  statements: { build: (config, model) => keepFor(model, config), send: addRecords },
};

function checkRoutes(target: ModelClass): void {
  const { rests } = describeModel(target);
  const isRead = rests.some(({ methods }) => methods.some(({ operation }) => operation === "one"));
  if (!isRead) throw cannotMount(target, `"history" needs one(), which guards the history`);
  if (versionKeyOf(buildSchema(target)) === undefined) {
    throw cannotMount(target, `"history" needs versions, and "versionKey" is off`);
  }
}

function historyMethods(methods: RestRecord["methods"]): ClassMethod[] {
  const reading = methods.find(({ operation }) => operation === "one");
  if (reading === undefined) return [];
  return [{
    operation: "history",
    on: "one",
    method: "GET",
    answer: RECORD_SCHEMA,
    answerHeaders: {
      Link: { description: "The URL of the next page", schema: { type: "string" } },
    },
    parameters: HISTORY_PAGE,
    hooks: guardsOf(reading.hooks, WORDS.history),
    perform: readHistory,
  }];
}

function revertMethods(methods: RestRecord["methods"]): ClassMethod[] {
  const changing = methods.find(({ operation }) => operation === "update");
  if (changing === undefined) return [];
  return [{
    operation: "revert",
    on: "one",
    method: "POST",
    body: REVERT_BODY,
    hooks: guardsOf(changing.hooks, WORDS.revert),
    perform: revert,
  }];
}

const WORDS = {
  history: { summary: "Read the versions of an entity" },
  revert: { summary: "Set an entity back to an earlier version" },
} as const;

/** Routes of the history run these hooks of `one()` and `update()`, so that they give no other rights. */
function guardsOf(
  { filter, parameters, ...others }: Method["hooks"],
  words: Pick<Method["hooks"], "summary">,
): Method["hooks"] {
  const hooks = Object.entries(others).filter(([name]) => isHookName(name));
  const { open } = others;
  return {
    ...Object.fromEntries(hooks),
    ...filter && { filter },
    ...parameters && { parameters },
    ...open === false && { open },
    ...words,
  };
}

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

const RECORD_SCHEMA: StandardSchema = schemaOf(RECORDS, (value) => ({ value }));

const REVERT_BODY: StandardSchema = schemaOf(BODY, (value) => {
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
