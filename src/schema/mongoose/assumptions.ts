import mongoose from "mongoose";
import type { Document, Model, Query, Schema, SchemaType } from "mongoose";
import { logHint } from "../../errors/log.ts";
import { makeDetachedConnection } from "./connections.ts";
import {
  deltaOf,
  forgetAllChanges,
  initFields,
  ownDefaults,
  rawArray,
  rawValues,
  setRaw,
  statesOf,
} from "./documents/document_values.ts";
import { markCopies, markOf, spreadOf } from "./documents/mark_copies.ts";
import { fullPath } from "./documents/validate_document.ts";
import {
  castForQuery,
  defaultOf,
  hasComputedDefault,
  hasDefault,
  hasEmptyDefault,
  hasOwnCast,
  hasOwnSetters,
  hasUsualId,
  isImmutable,
  isRequired,
  isRequiredAtTimes,
  rawDefault,
} from "./schemas/field_rules.ts";
import { validatesValueAlone } from "./schemas/validators.ts";
import {
  callsMethods,
  hasMiddleware,
  middlewareOf,
  stampFields,
  virtualsOf,
} from "./schemas/schema_members.ts";
import { exactFilter } from "./statements/exact_filter.ts";
import { isCastError } from "./errors.ts";
import { pendingProblems } from "./statements/filter_errors.ts";
import { type CastingQuery, matchAsIs, writeAsIs } from "./statements/query_casts.ts";

type Assumptions = Readonly<Record<string, (probe: Probe) => boolean>>;

/**
 * If one of these assumptions is wrong, the start fails, or else Mongrove would skip rules, lose changes or show
 * secrets.
 */
const NEEDED: Assumptions = {
  "copies of documents"() {
    const bare = new mongoose.Mongoose();
    const schema = new bare.Schema({ text: { type: String, hidden: true } });
    markCopies(schema as Schema);
    const Probe = makeDetachedConnection(bare).model("Probe", schema);
    const doc = new Probe({ text: "a" });
    const { stored, added, mark } = spreadOf({ ...doc }) ?? {};
    return mark?.schema === doc.schema && Object.hasOwn(stored ?? {}, "text") &&
      Object.keys(added ?? {}).length === 0 && markOf(doc.toObject()) !== undefined;
  },
  "stored values of documents": ({ doc }) =>
    rawValues(doc).text === "a" && rawValues(doc).inner === doc.get("inner") &&
    rawArray(doc.get("list")) !== doc.get("list"),
  "values set without casts"({ doc }) {
    setRaw(doc, { path: "free", value: " A " });
    return doc.get("free") === " A ";
  },
  "stored values set again"({ doc }) {
    initFields(doc, { inner: { text: "b" } });
    const isSet = doc.get("inner.text") === "b" && !doc.isModified();
    initFields(doc, { inner: { text: "a" } });
    return isSet;
  },
  "states of paths"({ doc }) {
    const isKnown = ownDefaults(doc).includes("date");
    statesOf(doc).clearPath("date");
    return isKnown && !ownDefaults(doc).includes("date");
  },
  "changes of documents"({ doc }) {
    (doc.get("list") as unknown[]).push("b");
    const { where, changes: { $push } } = deltaOf(doc);
    forgetAllChanges(doc);
    const isKnown = where._id === doc._id && $push?.list !== undefined;
    return isKnown && doc.directModifiedPaths().length === 0;
  },
  "immutable and required fields"({ schema }) {
    const { immutable, text, number } = schema.paths as ProbeFields;
    return isImmutable(immutable) && isRequired(text) && !isRequired(immutable) &&
      !isImmutable(number);
  },
  "validators of embedded objects"({ doc, schema }) {
    const inner = doc.get("inner") as Document & { readonly $isSingleNested?: boolean };
    const { doValidate } = schema.path("inner") as { doValidate?: unknown };
    return inner.$isSingleNested === true && fullPath(inner) === "inner" &&
      typeof doValidate === "function";
  },
  "virtuals of schemas": ({ schema }) => Object.hasOwn(virtualsOf(schema), "shown"),
  "names of timestamps": ({ schema }) =>
    Object.values(stampFields(schema)).join() === "made,updatedAt",
  "casts of conditions"({ model }) {
    const query = model.updateOne({ number: "1" }, {});
    const conditions = { text: 1 };
    matchAsIs(query, conditions);
    (query as unknown as { _castConditions(): void })._castConditions();
    const { $and } = query.getFilter() as { $and?: readonly Record<string, unknown>[] };
    return $and?.[0] === conditions && $and[1]?.number === 1;
  },
  "filters that are cast already"({ model }) {
    const query = model.find(exactFilter({ number: "1" }));
    (query as unknown as { _castConditions(): void })._castConditions();
    const { BSON } = mongoose.mongo;
    const { $and } = BSON.deserialize(BSON.serialize(query.getFilter()));
    return $and?.length === 1 && $and[0].number === "1";
  },
  "casts of updates"({ model }) {
    const query = model.updateOne({}, {}) as Query<unknown, unknown> & CastingQuery;
    writeAsIs(query, { $set: { number: "1" } });
    const { $set } = query._castUpdate({ $set: { number: "1", date: 0 } }) ?? {};
    return $set?.number === "1" && $set?.date instanceof Date;
  },
  "collections of queries"({ model }) {
    const { mongooseCollection } = model.find() as { mongooseCollection?: unknown };
    return mongooseCollection === model.collection;
  },
  "problems of documents"({ doc }) {
    doc.$set("number", "many");
    const { number } = pendingProblems(doc);
    return isCastError(number) && typeof (doc as { $validate?: unknown }).$validate === "function";
  },
  "middleware of documents"({ doc }) {
    const { execPre, execPost, filter } = middlewareOf(doc);
    return [execPre, execPost, filter].every((each) => typeof each === "function");
  },
};

/** If one fails, every request uses Mongoose documents, which is slower. */
const DIRECT: Assumptions = {
  "defaults of fields"({ schema, doc }) {
    const { immutable, number, date, computed, list, computedList } = schema.paths as ProbeFields;
    return !hasDefault(immutable) && defaultOf(number, doc) === 5 &&
      rawDefault(date) === Date.now && hasComputedDefault(computed) &&
      defaultOf(computed, doc) === "made" && hasEmptyDefault(list) &&
      !hasEmptyDefault(computedList) && hasUsualId(schema);
  },
  "setters and casts of fields"({ schema }) {
    const { text, set, cast, atTimes } = schema.paths as ProbeFields;
    return castForQuery(text, " A ") === "a" && !hasOwnSetters(text) && hasOwnSetters(set) &&
      hasOwnCast(cast) && !hasOwnCast(text) && isRequiredAtTimes(atTimes) &&
      !isRequiredAtTimes(text);
  },
  "validators of fields"({ schema }) {
    const { text, number, date, own } = schema.paths as ProbeFields;
    return [text, number, date].every((type) =>
      type.validators.length >= 3 && validatesValueAlone(type)
    ) && own.validators.length === 1 && !validatesValueAlone(own);
  },
  "middleware of schemas"({ schema, model }) {
    const own = schema.clone() as Schema;
    own.pre("save", () => {});
    own.post("findOne", () => {});
    const usual = ["save", "validate", "init", "find", "deleteOne"];
    return !hasMiddleware(model.schema as Schema, usual) &&
      hasMiddleware(own, ["save"]) && hasMiddleware(own, ["find", "findOne"]) &&
      !hasMiddleware(own, ["find"]);
  },
  "queued methods of schemas"({ schema, model }) {
    const changed = schema.clone() as Schema;
    changed.queue("own", []);
    return !callsMethods(model.schema as Schema) && callsMethods(changed);
  },
};

export function failedAssumptions(): Record<"needed" | "direct", string[]> {
  const probe = attempt(makeProbe);
  const failed = (all: Assumptions) =>
    Object.keys(all).filter((name) =>
      probe === undefined || attempt(() => all[name]?.(probe)) !== true
    );
  return { needed: failed(NEEDED), direct: failed(DIRECT) };
}

let unrecognised: readonly string[] | undefined;

export function checkMongoose(): readonly string[] {
  if (unrecognised !== undefined) return unrecognised;
  const { needed, direct } = failedAssumptions();
  if (needed.length > 0) {
    throw new TypeError(
      `Cannot use Mongoose ${mongoose.version}: Mongrove does not recognise its ${
        needed.join(", ")
      }`,
    );
  }
  if (direct.length > 0) {
    logHint(
      `Requests take the slower way: Mongrove does not recognise the ${direct.join(", ")} of ` +
        `Mongoose ${mongoose.version}`,
    );
  }
  return unrecognised = direct;
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

interface Probe {
  /** The model gets a clone, because Mongoose changes the schema of a model. */
  readonly schema: Schema;
  readonly model: Model<unknown>;
  /**
   * All checks share the document, so no two may use the same field if one changes it. With a document for each check,
   * V8 made the later documents of the application a tenth slower.
   */
  readonly doc: Document;
}

type ProbeFields =
  & Readonly<Record<"text" | "number" | "date" | "immutable" | "own", SchemaType>>
  & Readonly<Record<"set" | "cast" | "atTimes" | "computed" | "list" | "computedList", SchemaType>>;

function makeProbe(): Probe {
  // The application's plugins and settings would change the results.
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
    free: String,
    list: [String],
    computedList: { type: [String], default: () => ["made"] },
    map: { type: Map, of: new Schema({ text: String }) },
    inner: new Schema({ text: String }),
    inners: [new Schema({ text: String })],
  }, { timestamps: { createdAt: "made" }, autoCreate: false, autoIndex: false });
  schema.virtual("shown").get(() => "");
  const model = makeDetachedConnection(bare).model<unknown>("Probe", schema.clone() as Schema);
  const stored = {
    _id: new mongoose.Types.ObjectId(),
    text: "a",
    number: 5,
    free: "a",
    list: ["a"],
    inner: { text: "a" },
  };
  return { schema: schema as Schema, model, doc: model.hydrate(stored) as Document };
}
