import mongoose from "mongoose";
import type { Document, Model, Schema } from "mongoose";
import { makeDetachedConnection } from "./connections.ts";
import { logHint } from "../../errors/log.ts";
import { COPIES } from "./documents/mark_copies.ts";
import { RAW_SETS, RAW_VALUES } from "./documents/document_values.ts";
import { DEFAULTS, LOCKS, SETTERS } from "./schemas/field_rules.ts";
import { VALIDATORS } from "./schemas/validators.ts";
import {
  hasMiddleware,
  MEMBERS,
  MIDDLEWARE,
  replacesMembers,
  schemasWithin,
  TIMESTAMPS,
  VIRTUALS,
} from "./schemas/schema_members.ts";
import { CONDITION_CASTS, UPDATE_CASTS } from "./statements/query_casts.ts";
import { SAVE_MIDDLEWARE } from "./statements/save_by.ts";

/** Something of Mongoose that it does not declare and that is relied on. */
export interface Knowledge {
  readonly name: string;
  /** Whether a probe has it, and it does what is relied on. What it throws counts as no. */
  holds(probe: Probe): boolean;
}

/** A model of which nothing is stored, to look at what Mongoose makes of a schema. */
interface Probe {
  /** The schema, as it was before it became a model. */
  readonly schema: Schema;
  readonly model: Model<unknown>;
  readonly doc: Document;
}

function makeProbe(): Probe {
  // Not the host's: its plugins and settings are the user's own.
  const bare = new mongoose.Mongoose();
  const { Schema } = bare;
  const schema = new Schema({
    text: { type: String, required: true, enum: ["a"], match: /a/, trim: true, lowercase: true },
    number: { type: Number, default: "5", min: 1, max: 9, enum: [5] },
    date: { type: Date, default: Date.now, min: new Date(0), max: new Date(), required: true },
    computed: { type: String, default: () => "made" },
    atTimes: { type: String, required: () => true },
    set: { type: String, set: (value: string) => value },
    cast: { type: String, cast: (value: unknown) => String(value) },
    own: {
      type: String,
      validate: function (this: unknown) {
        return this !== null;
      },
    },
    immutable: { type: String, immutable: true },
    list: [String],
    computedList: { type: [String], default: () => ["made"] },
    map: { type: Map, of: new Schema({ text: String }) },
    inner: new Schema({ text: String }),
    inners: [new Schema({ text: String })],
  }, { timestamps: { createdAt: "made" }, autoCreate: false, autoIndex: false });
  schema.virtual("shown").get(() => "");
  const model = makeDetachedConnection(bare).model<unknown>("Probe", schema.clone() as Schema);
  const stored = { _id: new mongoose.Types.ObjectId(), text: "a", number: 5, inner: { text: "a" } };
  return { schema: schema as Schema, model, doc: model.hydrate(stored) as Document };
}

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
