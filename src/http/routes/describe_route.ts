import type { GroupsOptions, ListFormat } from "../../declare/hooks/read_options.ts";
import type { HookName } from "../../declare/hooks/hooks.ts";
import type { DataType } from "../../declare/operations/action.ts";
import { isHookName, type OperationWords, wordsOf } from "../../declare/operations/operation.ts";
import type { FilterDescription } from "../../filter/q/describe_filter.ts";
import type { Call } from "../../pipeline/request/call.ts";
import { narrowToReader } from "../../pipeline/request/reader_rights.ts";
import type { Reply } from "../../pipeline/request/reply.ts";
import { actingLevel, type Route, type WriteRules } from "../../pipeline/request/route.ts";
import { passPreFetch } from "../../pipeline/pass_hooks.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeFields, describeObject } from "../../schema/describe_object.ts";
import type { FieldDescription, ObjectNode, View } from "../../schema/describe_object.ts";
import type { Rights } from "../../schema/fields/rights.ts";
import { describeShape } from "../../schema/fields/shape.ts";
import { isSchema, jsonSchemaOf } from "../../schema/standard_schema.ts";
import { describeGroups } from "./_compile_groups.ts";
import {
  describeErrors,
  describeFilter,
  describeHeaders,
  describeParameters,
  describeWrites,
} from "./describe_request.ts";

/** A parameter of a request. */
export interface ParameterDescription {
  /** The name. */
  readonly name: string;
  /** Whether it is part of the path or of the query string. */
  readonly in: "path" | "query";
  /** Whether a request must have it. */
  readonly required: boolean;
  /** The names that it takes, for `sort`, `select`, `populate`, `group`, `sum` and `avg`. */
  readonly fields?: readonly string[];
  /** The value that it has if it is not given, for `limit`. */
  readonly default?: number;
  /** The greatest value, for `limit`. */
  readonly maximum?: number;
}

/** A header of a request that changes what the operation does. */
export interface HeaderDescription {
  /** The name. */
  readonly name: "If-Match" | "If-None-Match" | "Prefer" | "Idempotency-Key" | "Last-Event-ID";
  /** Whether a request must have it. */
  readonly required: boolean;
  /** The words that `Prefer` takes. `max-affected` takes a number. */
  readonly preferences?: readonly ("count=exact" | "return=minimal" | "max-affected")[];
}

/** The limits and needs of a write. */
export interface WriteDescription {
  /** The most entities that a body may have, which is an array then. Missing where it has one entity. */
  readonly many?: number;
  /** Whether many are written all or none. */
  readonly atomic?: boolean;
  /** The most entities that a request may change or remove, if there is a limit. */
  readonly max?: number;
  /** The field by which the path of `replace()` names an entity. */
  readonly by?: string;
  /** How long the keys of `Idempotency-Key` are kept, in milliseconds. Missing where they are not. */
  readonly keepMS?: number;
}

/** The abilities of a live list. */
export interface LiveDescription {
  /** The most entities that it may have. */
  readonly max: number;
}

/** An answer that is an error. */
export interface ErrorDescription {
  /** The HTTP status. */
  readonly status: number;
  /** The codes of the framework with this status. Hooks can use the status with other codes. */
  readonly codes: readonly string[];
}

/** A route, as data. */
export interface RouteDescription extends OperationWords {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path of the route in the router, such as `/movies/:id`. */
  readonly path: string;
  /** The name of the operation, or of the action. */
  readonly operation: string;
  /** The name of the model class. */
  readonly model: string;
  /** The parameters of the path and of the query string. */
  readonly parameters: readonly ParameterDescription[];
  /** The headers that the operation reads. */
  readonly headers: readonly HeaderDescription[];
  /** The paths and operators that `q` may hold. Missing if the operation has no `q`. */
  readonly filter?: FilterDescription;
  /** The groups that clients can ask for in the place of entities. Missing where there are none. */
  readonly groups?: Required<GroupsOptions>;
  /** The limits and needs of a write. Missing where there are none. */
  readonly writes?: WriteDescription;
  /** The formats besides JSON in which a list is read, or entities are sent. Missing where there are none. */
  readonly formats?: readonly ListFormat[];
  /** The fields that a body can set. Missing if the operation reads no body. */
  readonly body?: readonly FieldDescription[];
  /** The JSON Schema of a body that a Standard Schema describes; `body` is empty then. */
  readonly bodySchema?: Readonly<Record<string, unknown>>;
  /** The fields of each entity in the answer, or of what an action answers. Empty if the answer has no body. */
  readonly answer: readonly FieldDescription[];
  /** The JSON Schema of an answer that no class describes; `answer` is empty then. */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
  /** The abilities of the list that `Accept: text/event-stream` asks for. Missing where no list is live. */
  readonly live?: LiveDescription;
  /** The HTTP status of success. Actions that answer nothing have 204. */
  readonly status: number;
  /** The errors that the framework can answer. Hooks, and what stands before the router, can answer others. */
  readonly errors: readonly ErrorDescription[];
  /** The names of the hooks that the operation declares. */
  readonly hooks: readonly HookName[];
}

export function describeRoute(route: Route): RouteDescription {
  const { path, operation: { verb, status } } = route;
  const { target, operation, hooks, reads, writes } = actingLevel(route);
  const filter = describeFilter(route);
  const formats = writes?.takesLines ? ["ndjson" as const] : reads?.formats;
  const { body, answer } = routeObjects(route);
  const schemas = describeSchemas(route);
  return {
    method: verb.toUpperCase() as RouteDescription["method"],
    path,
    operation,
    model: target.name,
    parameters: describeParameters(route),
    headers: describeHeaders(route),
    ...filter && { filter },
    ...reads?.groups && { groups: describeGroups(reads.groups) },
    ...writes && { writes: describeWrites(operation, writes) },
    ...formats && { formats },
    ...schemas.bodySchema && { body: [] },
    ...body && { body: describeFields(body) },
    ...schemas,
    answer: answer === undefined ? [] : describeFields(answer),
    ...reads?.live && { live: reads.live },
    status,
    errors: describeErrors(route),
    hooks: Object.keys(hooks).filter(isHookName),
    ...wordsOf(hooks),
  };
}

/** Describes the route of a call as its reader may see it: after the guards, which may refuse him. */
export async function describeCall(call: Call): Promise<Reply> {
  await passPreFetch(call);
  narrowToReader(call.context);
  const levels = call.levels.map(({ level }) => level);
  return { status: 200, text: JSON.stringify(describeRoute({ ...call.route, levels })) };
}

/** Gives the objects of a route, which other routes share. */
export function routeObjects(
  route: Route,
): { readonly body?: ObjectNode; readonly answer?: ObjectNode } {
  const { change, status, origin } = route.operation;
  const { target, shape, link, action, rights, writes = {} } = actingLevel(route);
  const embedded = link?.embedded === true;
  const object = (view: View) => describeObject(shape, { view, embedded });
  const countsEntities = change === "merge" && origin === "list";
  const answersEntity = action?.answer === undefined || action.answer === target;
  const body = change === "merge" || change === "replace"
    ? narrowBody(object(change === "replace" || origin === "new" ? "new" : "patch"), writes)
    : dataObject(action?.body, { view: "new", rights });
  const answer = answersEntity
    ? object("answer")
    : dataObject(action.answer, { view: "result", rights });
  const hasAnswer = status !== 204 && !countsEntities && answer !== undefined;
  return { ...body && { body }, ...hasAnswer && { answer } };
}

/** The body of a write that takes other fields than a creation or an update. */
function narrowBody(
  body: ObjectNode,
  { fields: names, by = "_id" }: Partial<WriteRules>,
): ObjectNode {
  const { model, strict, ignored, fields } = body;
  if (names !== undefined) {
    const taken = fields.filter(({ name }) => names.has(name));
    return { model, view: "changes", strict: true, ignored: [], fields: taken };
  }
  if (!fields.some(({ name, required }) => name === by && required)) return body;
  // The path has the key
  const own = fields.map((each) => each.name === by ? { ...each, required: false } : each);
  return { model, view: "replacement", strict, ignored, fields: own };
}

/** The object of a class that describes a body or an answer of an action. */
function dataObject(
  type: DataType | undefined,
  { view, rights }: { readonly view: View; readonly rights: Rights | undefined },
): ObjectNode | undefined {
  if (type === undefined || isSchema(type)) return undefined;
  const shape = describeShape(buildSchema(type).schema, rights);
  return describeObject(shape, { view, embedded: false });
}

const COUNT = { type: "integer", minimum: 0 };

const COUNTS = {
  type: "object",
  properties: {
    matched: { ...COUNT, description: "How many entities were selected" },
    modified: { ...COUNT, description: "How many of them were written" },
  },
  required: ["matched", "modified"],
};

/** Describes bodies and answers that are no objects of a class. Bodies are always objects. */
function describeSchemas(route: Route): Pick<RouteDescription, "bodySchema" | "answerSchema"> {
  const { operation, action } = actingLevel(route);
  const { body, answer } = action ?? {};
  return {
    ...operation === "updateAll" && { answerSchema: COUNTS },
    ...isSchema(body) && { bodySchema: jsonSchemaOf(body, "input") ?? { type: "object" } },
    ...isSchema(answer) && { answerSchema: jsonSchemaOf(answer, "output") ?? {} },
  };
}
