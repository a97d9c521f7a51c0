// All that is relied on, and that Mongoose, the driver or the runtime do not declare: checked before the first model.
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import mongoose from "mongoose";
import type { Document, Model, Query, Schema } from "mongoose";
import { logHint } from "../../errors/log.ts";
import { isJsonObject } from "../fields/json.ts";
import { makeDetachedConnection } from "./connections.ts";
import { makeProbe } from "./probe.ts";
import type { Probe, ProbeFields } from "./probe.ts";
import type { DecodingClient } from "./connections.ts";
import {
  deltaOf,
  forgetAllChanges,
  ownDefaults,
  rawArray,
  rawValues,
  setRaw,
  statesOf,
} from "./documents/document_values.ts";
import { markCopies, markOf, spreadOf } from "./documents/mark_copies.ts";
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
import { judgesValuesAlone } from "./schemas/validators.ts";
import {
  hasMiddleware,
  replacesMembers,
  schemasWithin,
  stampFields,
  virtualsOf,
} from "./schemas/schema_members.ts";
import { matchAsIs, writeAsIs } from "./statements/query_casts.ts";
import type { CastingQuery } from "./statements/query_casts.ts";
import { middlewareOf } from "./statements/save_by.ts";

/** Checks by what is assumed. One that throws counts as failed. */
type Assumptions = Readonly<Record<string, (probe: Probe) => boolean>>;

/** Without one of these, the start fails: a rule would be skipped, a change lost, or a secret shown. */
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
  "values set without casts"({ model }) {
    const doc = new model({}) as Document;
    setRaw(doc, { path: "text", value: " A " });
    return doc.get("text") === " A ";
  },
  "states of paths"({ model, doc }) {
    const read = model.hydrate({ _id: doc._id }) as Document;
    const isKnown = ownDefaults(read).includes("date");
    statesOf(read).clearPath("date");
    return isKnown && !ownDefaults(read).includes("date");
  },
  "changes of documents"({ model, doc }) {
    const read = model.hydrate({ _id: doc._id, list: [1] }) as Document;
    (read.get("list") as unknown[]).push(2);
    const { where, changes: { $push } } = deltaOf(read);
    forgetAllChanges(read);
    const isKnown = where._id === doc._id && $push?.list !== undefined;
    return isKnown && read.directModifiedPaths().length === 0;
  },
  "immutable and required fields"({ schema }) {
    const { immutable, text, number } = schema.paths as ProbeFields;
    return isImmutable(immutable) && isRequired(text) && !isRequired(immutable) &&
      !isImmutable(number);
  },
  // Virtuals are shown, and those of aliases are hidden with their fields.
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
  // None of the user's may be skipped.
  "middleware of documents"({ doc }) {
    const { execPre, execPost, filter } = middlewareOf(doc);
    return [execPre, execPost, filter].every((each) => typeof each === "function");
  },
};

/** Without one of these, models are served by documents alone. */
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
      type.validators.length >= 3 && judgesValuesAlone(type)
    ) && own.validators.length === 1 && !judgesValuesAlone(own);
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
  "methods and statics of schemas"({ schema, model }) {
    const changed = [0, 1, 2].map(() => schema.clone() as Schema);
    changed[0]?.method("save", () => {});
    changed[1]?.static("find", () => {});
    changed[2]?.queue("own", []);
    return !replacesMembers(model.schema as Schema) && changed.every(replacesMembers);
  },
};

function makeClient(): mongoose.mongo.MongoClient {
  return new mongoose.mongo.MongoClient("mongodb://localhost");
}

/** Without one of these, large lists take longer, or slow clients are noticed later; the log says so. */
const USEFUL: Assumptions = {
  "replies of the MongoDB driver"() {
    const cursor = makeClient().db("probe").collection("probe").find();
    return (cursor as { documents?: unknown }).documents === null;
  },
  "names of arrays in the MongoDB driver": () =>
    isJsonObject((makeClient() as DecodingClient).bsonOptions?.fieldsAsRaw),
  "responses of the runtime"() {
    const socket = new Socket();
    const response = new ServerResponse(new IncomingMessage(socket));
    response.assignSocket(socket);
    return (socket as { _httpMessage?: unknown })._httpMessage === response;
  },
};

interface Unknown {
  readonly needed: readonly string[];
  readonly direct: readonly string[];
  readonly useful: readonly string[];
}

export function failedAssumptions(): Unknown {
  const probe = attempt(makeProbe);
  const unknown = (all: Assumptions) =>
    Object.keys(all).filter((name) =>
      probe === undefined || attempt(() => all[name]?.(probe)) !== true
    );
  return { needed: unknown(NEEDED), direct: unknown(DIRECT), useful: unknown(USEFUL) };
}

let looked: Unknown | undefined;

/** Checks, once, that Mongoose is one whose documents can be used safely. */
export function checkMongoose(): Unknown {
  if (looked !== undefined) return looked;
  const { needed, direct, useful } = failedAssumptions();
  if (needed.length > 0) {
    throw new TypeError(
      `Cannot use Mongoose ${mongoose.version}: Mongrove does not recognise its ${
        needed.join(", ")
      }`,
    );
  }
  if (useful.length > 0) {
    logHint(`Some requests take longer: Mongrove does not recognise the ${useful.join(", ")}`);
  }
  return looked = { needed, direct, useful };
}

/** Gives what is not recognised of a model: such a model is always read and written with documents. */
export function unrecognised({ schema }: Model<unknown>): readonly string[] {
  const schemas = [...schemasWithin(schema as Schema)];
  const isReadable = attempt(() =>
    schemas.map((each) => hasMiddleware(each, ["save"]) || replacesMembers(each))
  );
  return [...checkMongoose().direct, ...isReadable ? [] : ["schemas"]];
}

export function logUnrecognised(model: Model<unknown>): void {
  const unknown = unrecognised(model);
  if (unknown.length === 0) return;
  logHint(
    `Requests to "${model.modelName}" take the slower way: Mongrove does not recognise the ` +
      `${unknown.join(", ")} of Mongoose ${mongoose.version}`,
  );
}

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
