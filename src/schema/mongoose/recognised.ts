import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { logHint } from "../../errors/log.ts";
import { COPIES } from "./documents/mark_copies.ts";
import { RAW_VALUES } from "./documents/raw_values.ts";
import { RAW_SETS } from "./documents/track_changes.ts";
import { DEFAULTS } from "./fields/default_value.ts";
import { LOCKS, SETTERS } from "./fields/field_rules.ts";
import { VALIDATORS } from "./fields/validators.ts";
import { makeProbe } from "./knowledge.ts";
import type { Knowledge } from "./knowledge.ts";
import { hasMiddleware, MIDDLEWARE } from "./schemas/middleware.ts";
import { MEMBERS, replacesMembers, VIRTUALS } from "./schemas/schema_members.ts";
import { schemasWithin } from "./schemas/schemas_within.ts";
import { TIMESTAMPS } from "./schemas/timestamps.ts";
import { CONDITION_CASTS } from "./statements/match_as_is.ts";
import { SAVE_MIDDLEWARE } from "./statements/save_by.ts";
import { UPDATE_CASTS } from "./statements/write_as_is.ts";

/** What documents need: without it, a rule would be skipped, or a secret shown. */
const NEEDED: readonly Knowledge[] = [
  COPIES,
  RAW_VALUES,
  RAW_SETS,
  LOCKS,
  VIRTUALS,
  TIMESTAMPS,
  CONDITION_CASTS,
  SAVE_MIDDLEWARE,
  UPDATE_CASTS,
];

const DIRECT: readonly Knowledge[] = [DEFAULTS, SETTERS, VALIDATORS, MIDDLEWARE, MEMBERS];

interface Unknown {
  readonly needed: readonly string[];
  readonly direct: readonly string[];
}

export function lookAtMongoose(): Unknown {
  const probe = attempt(makeProbe);
  const unknown = (all: readonly Knowledge[]) =>
    all.filter((each) => probe === FAILED || attempt(() => each.holds(probe)) !== true)
      .map(({ name }) => name);
  return { needed: unknown(NEEDED), direct: unknown(DIRECT) };
}

const unknownOfCopy = new WeakMap<object, Unknown>();
const unknownOfModel = new WeakMap<Model<unknown>, readonly string[]>();

/**
 * Checks, once, that Mongoose is one whose documents can be used safely.
 *
 * @throws {TypeError} If something is not recognised without which a rule would be skipped, or a secret shown.
 */
export function checkMongoose(): Unknown {
  const known = unknownOfCopy.get(mongoose);
  if (known !== undefined) return known;
  const found = lookAtMongoose();
  if (found.needed.length > 0) {
    throw new TypeError(
      `Cannot use Mongoose ${mongoose.version}: Mongrove does not recognise its ${
        list(found.needed)
      }`,
    );
  }
  unknownOfCopy.set(mongoose, found);
  return found;
}

/** What is not recognised of a model. It is logged once; such a model is always read and written with documents. */
export function unrecognised(model: Model<unknown>): readonly string[] {
  const known = unknownOfModel.get(model);
  if (known !== undefined) return known;
  const unknown = [...checkMongoose().direct, ...isReadable(model) ? [] : ["schemas"]];
  unknownOfModel.set(model, unknown);
  if (unknown.length > 0) {
    logHint(
      `Requests to "${model.modelName}" take the slower way: Mongrove does not recognise the ` +
        `${list(unknown)} of Mongoose ${mongoose.version}`,
    );
  }
  return unknown;
}

/** Whether the schemas of a model tell what users have put on them. */
function isReadable({ schema }: Model<unknown>): boolean {
  const schemas = [...schemasWithin(schema as Schema)];
  return attempt(() =>
    schemas.forEach((each) => hasMiddleware(each, ["save"]) || replacesMembers(each))
  ) !== FAILED;
}

const FAILED: unique symbol = Symbol("failed");

function attempt<T>(look: () => T): T | typeof FAILED {
  try {
    return look();
  } catch {
    return FAILED;
  }
}

function list(names: readonly string[]): string {
  return names.join(", ");
}
