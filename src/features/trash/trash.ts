import mongoose from "mongoose";
import type { Schema } from "mongoose";
import { describeModel } from "../../declare/model/describe_model.ts";
import type { Hooks, PreFetch } from "../../declare/hooks/hooks.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import { isOperationName } from "../../declare/operations/operation.ts";
import type { ClassFeature, ClassInRoute } from "../../pipeline/class_feature.ts";
import { type ClassMethod, performOf } from "../../pipeline/class_methods.ts";
import { cannotMount, type OptionReader } from "../../pipeline/option_reader.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import { isAdopted } from "../../schema/adopted/adoption.ts";
import { isAsync } from "../../schema/build_field.ts";
import {
  changeIndexes,
  partialOptions,
  type SchemaIndex,
} from "../../schema/mongoose/schemas/change_indexes.ts";
import { admitTrash, askedOf, maySee, type SeeFunction, TRASH } from "./admit_trash.ts";
import type { OpenLevelContext } from "../../pipeline/request/request_context.ts";
import type { TextAnswer } from "../../pipeline/request/answer.ts";
import { changeEntity } from "../../pipeline/write.ts";
import { noteSet } from "../../write/set_paths.ts";

export interface TrashConfig {
  readonly field: string;
  readonly byField: string;
  readonly withField: string;
  readonly keepMS?: number;
  readonly see?: SeeFunction | undefined;
  readonly restore?: PreFetch | undefined;
}

export const trash: ClassFeature<TrashConfig> = {
  name: "trash",
  check: checkTrash,
  start: checkRoute,
  schema: addFields,
  tidy: ({ field, keepMS }) =>
    keepMS === undefined
      ? undefined
      : ({ at, remove }) => remove({ [field]: { $lte: new Date(at.getTime() - keepMS) } }),
  indexes(config, schema) {
    changeIndexes(schema, (index) => ofLiving(index, config));
  },
  parameter: {
    name: TRASH,
    facts: {
      text: "Selects the entities in the trash, for callers who may see them.",
      word: TRASH,
      schema: { type: "string", enum: ["only"] },
    },
    isOf: ({ see }, method) =>
      see !== undefined &&
      (isOperationName(method.operation)
        ? WITH_TRASH.has(method.operation)
        : performOf(method) !== undefined && "method" in method && method.method === "GET"),
    isFor: maySee,
  },
  methods: (config, rest) => config.see === undefined ? [] : restoreMethods(rest, config),
  admit: admitTrash,
  condition({ field }, req, reach) {
    const asked = reach === "route" ? askedOf(req) : undefined;
    if (asked === "restore") return {};
    return { [field]: asked === "only" ? { $ne: null } : null };
  },
  fields: ({ field, byField, withField }) => ({
    removal: {
      time: field,
      actor: byField,
      removalId: withField,
      all: [field, byField, withField],
      isOfRemoved: (req) => askedOf(req) === "only",
    },
  }),
};

const WITH_TRASH: ReadonlySet<string> = new Set(["all", "one", "remove", "removeAll"]);

function checkTrash(option: OptionReader): TrashConfig {
  const { keep, see, restore, field } = option.parts("keep", "see", "restore", "field");
  const name = field.value === undefined ? "deletedAt" : field.value;
  if (typeof name !== "string" || !/^[A-Za-z]\w*$/.test(name)) {
    throw option.fail(`needs the name of a field as "trash.field"`);
  }
  if (restore.value !== undefined && see.value === undefined) {
    throw option.fail(`has "trash.restore" without "trash.see", so nobody could restore an entity`);
  }
  const given = see.callback<SeeFunction>();
  if (given !== undefined && isAsync(given)) {
    throw option.fail(`has "trash.see", which is asynchronous`);
  }
  const stem = name.replace(/At$/, "");
  return {
    field: name,
    byField: `${stem}By`,
    withField: `${stem}With`,
    ...keep.value !== undefined && { keepMS: keep.duration("30d") },
    see: given,
    restore: restore.callback<PreFetch>(),
  };
}

function addFields(config: TrashConfig, schema: Schema): void {
  if (isAdopted(schema)) return useFields(config, schema);
  const { field, byField, withField, keepMS, see } = config;
  const taken = [field, byField, withField].find((name) => schema.path(name) !== undefined);
  if (taken !== undefined) {
    throw new TypeError(`property "${taken}" has the name of a field that "trash" adds`);
  }
  // Without `see`, no request reaches the trash, so no API description has the fields.
  const options = { readonly: true, hidden: see === undefined };
  schema.add(
    {
      [field]: { type: Date, ...options },
      [byField]: { type: mongoose.Schema.Types.Mixed, ...options },
      [withField]: { type: mongoose.Schema.Types.ObjectId, readonly: true, hidden: true },
    } as Parameters<Schema["add"]>[0],
  );
  // Without this index, each search for expired entities would read the whole collection.
  if (keepMS !== undefined) schema.index({ [field]: 1 }, { sparse: true });
}

/** The trash adds no fields to the schema of an adopted model, so missing fields are an error. */
function useFields({ field, byField, withField, see }: TrashConfig, schema: Schema): void {
  const types = { [field]: ["Date"], [byField]: BY_TYPES, [withField]: ["ObjectId", "Mixed"] };
  for (const [name, instances] of Object.entries(types)) {
    const type = schema.path(name);
    if (type === undefined || !instances.includes(type.instance)) {
      throw new TypeError(
        `the schema lacks the path "${name}" of the type ${instances[0]}, which "trash" needs`,
      );
    }
    const hidden = name === withField || see === undefined || type.options.hidden;
    Object.assign(type.options, { readonly: true, hidden });
  }
}

const BY_TYPES = ["Mixed", "String", "ObjectId", "Number"];

function checkRoute(
  _config: TrashConfig,
  { target, route }: ClassInRoute,
): void {
  const isStored = route.levels.some((level) => level.target === target && !level.link?.embedded);
  if (!isStored) throw cannotMount(target, `embedded entities have no trash`);
  const { hooks, operation, traits, target: acting } = actingLevel(route);
  if (acting === target && traits.change === "remove" && hooks.persist !== undefined) {
    throw cannotMount(target, `"trash" does not bind the hook "persist" of ${operation}()`);
  }
  const methods = describeModel(target).rests.flatMap((rest) => rest.methods);
  const other = methods.find((method) => method.hooks.parameters?.includes(TRASH));
  if (other !== undefined) {
    throw cannotMount(target, `${other.operation}() uses the parameter "${TRASH}" of its trash`);
  }
}

const DECIDING_HOOKS = ["preFetch", "postFetch", "preSave"] as const;

function restoreMethods({ methods }: RestRecord, config: TrashConfig): ClassMethod[] {
  const named = (operation: string) => methods.find((method) => method.operation === operation);
  const guarding = named("update") ?? named("remove") ?? (config.restore && named("removeAll"));
  if (guarding === undefined) return [];
  const given = guarding.hooks as Hooks<object>;
  const preSend = named("update")?.hooks.preSend;
  const deciding = config.restore ? { preFetch: config.restore } : Object.fromEntries(
    DECIDING_HOOKS.flatMap((name) => given[name] ? [[name, given[name]]] : []),
  );
  return [{
    operation: "restore",
    on: "one",
    method: "POST",
    hooks: {
      ...deciding,
      ...preSend && { preSend },
      ...given.filter && { filter: given.filter },
      ...given.parameters && { parameters: given.parameters },
      ...given.open === false && { open: false },
      summary: "Restore an entity from the trash",
    },
    perform: (context) => restore(context, config),
  }];
}

/** Unique indexes leave out the trash, so that a new entity may have a value of a removed one. */
function ofLiving([keys, options]: SchemaIndex, { field }: TrashConfig): SchemaIndex {
  if (!options.unique) return [keys, options];
  const { partialFilterExpression, ...others } = partialOptions([keys, options]);
  const condition = { ...partialFilterExpression, [field]: null };
  return [keys, { ...others, partialFilterExpression: condition }];
}

async function restore(
  context: OpenLevelContext,
  { field, byField, withField }: TrashConfig,
): Promise<TextAnswer> {
  return await changeEntity(context, (entity) => {
    entity.set({ [field]: undefined, [byField]: undefined, [withField]: undefined });
    noteSet(entity, [field, byField, withField]);
    return Promise.resolve([]);
  });
}
