import mongoose from "mongoose";
import { isCountable, isEmpty } from "../../filter/filters.ts";
import { showsInPart } from "../../filter/projection.ts";
import type { Selection } from "../../filter/selection.ts";
import { sharedSession } from "../../schema/mongoose/statements/transaction_around.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isSetOnce } from "../../schema/fields/visibility.ts";
import { entityHook } from "./plan_read.ts";
import type { WriteCommand } from "../source.ts";

export interface WriteFacts {
  readonly shape: Shape;
  readonly selection: Selection;
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly linked: boolean;
  readonly takes: {
    readonly inserts: boolean;
    readonly updates: boolean;
    readonly removes: boolean;
  };
}

export function whyDocuments(change: WriteCommand, facts: WriteFacts): string | undefined {
  const reason = whyHooked(change);
  if (reason !== undefined) return reason;
  if (change.operation !== "remove" && mongoose.get("transactionAsyncLocalStorage")) {
    return "Mongoose writes in the transaction around the request";
  }
  if (isRepeated(change) && sharedSession() !== undefined) {
    return "a statement that the database refuses would undo the transaction around the request";
  }
  switch (change.operation) {
    case "create":
      return whyNotInserted(change, facts);
    case "update":
      return whyNotShown(facts) ?? whyNotUpdated(change, facts);
    case "updateAll":
      return whyNotAllUpdated(change, facts);
    case "replace":
      return whyNotReplaced(change, facts);
    case "remove":
      return whyNotRemoved(facts);
    default:
      throw new TypeError(`Cannot plan a write: ${change.operation}() is none`);
  }
}

/**
 * If MongoDB refuses their statement, these operations run again with documents, but in a transaction the refusal would
 * abort it.
 */
function isRepeated({ operation }: WriteCommand): boolean {
  return operation !== "create" && operation !== "remove";
}

export function whyHooked({ hooks }: Pick<WriteCommand, "hooks">): string | undefined {
  const hook = entityHook(hooks);
  return hook === undefined ? undefined : `the hook ${hook} gets each entity`;
}

export function isOneInTransaction(
  { operation, bodies }: WriteCommand,
  { isUpdate }: { readonly isUpdate: boolean },
): boolean {
  return operation === "update" || operation === "create" && bodies === undefined ||
    operation === "remove" && isUpdate;
}

function whyNotInserted(
  { bodies, isAtomic = true, minimal = false }: WriteCommand,
  { selection, linked, takes, ...facts }: WriteFacts,
): string | undefined {
  if (linked) return LINKED;
  const isUnseen = minimal || bodies !== undefined && !isAtomic;
  const reason = isUnseen
    ? whyOptions(selection)
    : whyNotShown({ ...facts, selection, linked, takes });
  return reason ?? (takes.inserts ? undefined : "the model needs documents for new entities");
}

function whyNotUpdated(
  { body = {} }: WriteCommand,
  { shape, takes }: WriteFacts,
): string | undefined {
  if (!takes.updates) return "the model needs documents for updates";
  if (setsImmutable(body, shape)) return "the body sets a field that is set once";
  return setsArray(body, shape) ? "the body replaces an array, which is read before" : undefined;
}

function whyNotAllUpdated(change: WriteCommand, facts: WriteFacts): string | undefined {
  const { selection, conditions, shape, takes } = facts;
  const { body = {} } = change;
  if (!isCountable(conditions)) return "the database cannot count the selected entities";
  if (!takes.updates) return "the model needs documents for updates";
  return whyOptions(selection) ??
    (setsImmutable(body, shape) ? "the body sets a field that is set once" : undefined);
}

function whyNotReplaced(
  { body, isAsked = false }: WriteCommand,
  { conditions, takes, ...facts }: WriteFacts,
): string | undefined {
  // An upsert would copy the conditions into a new entity. With `isAsked`, the statement cannot create an entity.
  if (!isAsked && !isEmpty(conditions)) return "conditions of a replacement bind its entity";
  if (setsFreeText(body, { kind: "object", shape: facts.shape })) {
    return "a text in free-form data may repeat a stored value of another type";
  }
  const reason = whyNotShown({ ...facts, conditions, takes });
  return reason ?? (takes.inserts ? undefined : "the model needs documents for new entities");
}

function whyNotRemoved({ selection, linked, takes }: WriteFacts): string | undefined {
  if (linked) return LINKED;
  return whyOptions(selection) ??
    (takes.removes ? undefined : "the model has middleware of removals");
}

const LINKED = "a parent refers to the entities";

function whyOptions({ options }: Selection): string | undefined {
  return isEmpty(options) ? undefined : "hooks have set query options";
}

function whyNotShown({ selection, shape }: WriteFacts): string | undefined {
  return whyOptions(selection) ??
    (showsInPart({ selection, shape })
      ? "the answer shows a part of the stored entity"
      : undefined);
}

/** A document reads the stored array first, so that its write fails if another request changes the array. */
function setsArray(body: JsonObject, { fields }: Shape): boolean {
  return Object.keys(body).some((name) => fields.get(name)?.kind === "array");
}

/** JSON shows a stored date in free-form data as a string, and only a document can keep the date. */
function setsFreeText(
  value: unknown,
  field: Pick<FieldShape, "kind" | "shape" | "element"> | undefined,
): boolean {
  if (field?.kind === "free" && typeof value === "string") return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, each]) =>
    setsFreeText(
      each,
      field?.kind === "free" ? field : field?.element ?? field?.shape?.fields.get(key),
    )
  );
}

/** A direct update would change a field that is set once. */
function setsImmutable(body: JsonObject, { fields }: Shape): boolean {
  return Object.keys(body).some((name) => {
    const field = fields.get(name);
    return field?.writable === true && isSetOnce(field);
  });
}
