import type { OptionDescriptions } from "../declare/options.ts";
import type { HookName } from "../declare/hooks/hooks.ts";
import type { DataType } from "../declare/operations/action.ts";
import { leftOutBy } from "../declare/hooks/named_fields.ts";
import { isHookName, type OperationWords, wordsOf } from "../declare/operations/operation.ts";
import type { FilterDescription } from "./describe_filter.ts";
import type { BytesFacts, Withheld } from "../pipeline/description.ts";
import type { Call } from "../pipeline/request/request_context.ts";
import type { Reply } from "../pipeline/request/reply.ts";
import {
  actingLevel,
  type Route,
  takesQueryMethod,
  type WriteRules,
} from "../pipeline/request/route.ts";
import { admitReader } from "../pipeline/run_pipeline.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { describeFields, describeObject } from "./describe_object.ts";
import type { FieldDescription, ObjectNode, View } from "./describe_object.ts";
import type { Rights } from "../schema/fields/rights.ts";
import { describeShape } from "../schema/fields/shape.ts";
import { isSchema, jsonSchemaOf } from "../schema/standard_schema.ts";
import {
  describeErrors,
  describeFilter,
  describeHeaders,
  describeParameters,
  describeWrites,
} from "./describe_request.ts";

/** @internal A parameter that a client can send in the path or in the query string, with the values that it takes. */
export interface ParameterDescription {
  /** The name of the parameter. */
  readonly name: string;
  /** The place of the parameter, which is a segment of the path or the query string. */
  readonly in: "path" | "query";
  /** Whether a request must have the parameter. Only parameters of the path and `q` can be required. */
  readonly required: boolean;
  /** The names that `sort`, `select`, `populate`, `group`, `sum` or `avg` takes. Missing for other parameters. */
  readonly fields?: readonly string[];
  /** The value of `limit` for a request without this parameter. */
  readonly default?: number;
  /** The greatest value of the parameter `limit`. */
  readonly maximum?: number;
  /** The type of the `_id` in a path, if it is no `ObjectId`. */
  readonly idType?: "String" | "Number" | "UUID";
}

/** @internal A request header that the operation reads, in the result of `Framework.describe()`. */
export interface HeaderDescription {
  /** The name of the header, with the upper and lower case of the HTTP standard. */
  readonly name:
    | ("If-Match" | "If-None-Match" | "Prefer" | "Idempotency-Key" | "Last-Event-ID")
    | ("Range" | "If-Range" | "Content-Disposition");
  /** Whether a request without the header is refused. */
  readonly required: boolean;
  /** The preferences that a client may send in the header `Prefer`. `max-affected` needs a number. */
  readonly preferences?: readonly ("count=exact" | "return=minimal" | "max-affected")[];
}

/** @internal The limits of a write, in the result of `Framework.describe()`. */
export interface WriteDescription {
  /** The maximum number of entities in a body that is an array. Missing if a body is a single entity. */
  readonly many?: number;
  /** Whether all entities of a request are written or none. */
  readonly atomic?: boolean;
  /** The maximum number of entities that a request may change or remove. */
  readonly max?: number;
  /** The field by which the path of `replace()` names an entity. */
  readonly by?: string;
  /**
   * The time for which the keys of `Idempotency-Key` are stored, in milliseconds. Within this time, a repeated request
   * with its key creates nothing.
   */
  readonly keepMS?: number;
}

/**
 * @internal The bodies and answers of a route that are bytes, such as a file, in the result of `Framework.describe()`.
 */
export interface BytesDescription {
  /** The media types of the body. */
  readonly body?: readonly string[];
  /** The maximum number of bytes of the body. A larger body answers 413. */
  readonly maxBytes?: number;
  /** The media types of the answer. Missing if the answer is JSON or empty. */
  readonly answer?: readonly string[];
}

/** @internal The errors of a route that have the same HTTP status. */
export interface ErrorDescription {
  /** The HTTP status. */
  readonly status: number;
  /** The values of `code` in the bodies of these errors. Hooks can answer other codes with the same status. */
  readonly codes: readonly string[];
}

/** The description of a route, as `Framework.describe()` and the router of `Framework.initialize()` return it. */
export interface RouteDescription extends OperationWords, OptionDescriptions {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path of the route in the router, such as `/movies/:id`. */
  readonly path: string;
  /** The name of the operation, such as `update`, or of the action, such as `close`. */
  readonly operation: string;
  /**
   * The name of the model class whose entities the route serves. A sub-route serves the entities of its last segment.
   */
  readonly model: string;
  /**
   * The parameters of the path and of the query string. A router with `strict` refuses any other
   * parameter.
   */
  readonly parameters: readonly ParameterDescription[];
  /** Whether clients can send the parameters of the query string in the body of a request with the method `QUERY`. */
  readonly queryMethod?: true;
  /**
   * The headers by which a client can change the effect of a request, such as `If-Match`. `Accept` and `Content-Type`
   * are not listed.
   */
  readonly headers: readonly HeaderDescription[];
  /** The paths and operators that `q` may contain. Missing if the operation has no `q`. */
  readonly filter?: FilterDescription;
  /** The limits of a write. */
  readonly writes?: WriteDescription;
  /** The bodies and answers that are bytes. Missing if all of them are JSON or empty. */
  readonly bytes?: BytesDescription;
  /** The fields that a body can set. Missing if the operation reads no body. */
  readonly body?: readonly FieldDescription[];
  /** The JSON Schema of a body that a Standard Schema describes. In this case, `body` is empty. */
  readonly bodySchema?: Readonly<Record<string, unknown>>;
  /** The fields of each entity in the answer, or of the answer of an action. Empty if the answer has no body. */
  readonly answer: readonly FieldDescription[];
  /** The JSON Schema of an answer that no class describes. In this case, `answer` is empty. */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
  /**
   * The HTTP status of a successful request. The status is 204 if the answer has no body, as for actions without
   * `answer`.
   */
  readonly status: number;
  /**
   * Whether the function `available` decides for each entity if the action can run. The header `Link` of `one()` names
   * the actions that can, with `rel="action"`. Missing for actions without the function.
   */
  readonly conditional?: true;
  /** The errors that the framework can answer. Hooks and middleware before the router can answer other errors. */
  readonly errors: readonly ErrorDescription[];
  /**
   * The names of the hooks that the operation declares. With a hook such as `preSend`, the application can refuse or
   * change entities.
   */
  readonly hooks: readonly HookName[];
  /**
   * The rules that decide who may use the route, such as `guard signedIn`, `preFetch isDoctor`, `scope` or `tenant`, or
   * `everybody`. A description for clients, as in the OpenAPI document, has no such property.
   */
  readonly access?: readonly string[];
}

export function describeRoute(route: Route): RouteDescription {
  const { path, operation: { verb, status } } = route;
  const { target, operation, hooks, options, writes, bytes, action } = actingLevel(route);
  const filter = describeFilter(route);
  const { body, answer } = routeObjects(route);
  const schemas = describeSchemas(route);
  const lacks = leftOutBy(hooks.preSend);
  return {
    method: verb.toUpperCase() as RouteDescription["method"],
    path,
    operation,
    model: target.name,
    parameters: describeParameters(route),
    ...takesQueryMethod(route) && { queryMethod: true },
    headers: describeHeaders(route),
    ...filter && { filter },
    ...options.description.route,
    ...writes && { writes: describeWrites(operation, writes) },
    ...(bytes?.body ?? bytes?.answer) && { bytes: describeBytes(bytes) },
    ...schemas.bodySchema && { body: [] },
    ...body && { body: describeFields(body) },
    ...schemas,
    answer: answer === undefined
      ? []
      : describeFields(answer).map((field) =>
        lacks.includes(field.name) ? { ...field, required: false } : field
      ),
    status,
    ...action?.available && { conditional: true },
    errors: describeErrors(route),
    hooks: Object.keys(hooks).filter(isHookName),
    ...wordsOf(hooks),
  };
}

/** The `preFetch` hooks and the class options run first, so that a reader whom they refuse gets no description. */
export async function describeCall(call: Call): Promise<Reply> {
  await admitReader(call);
  const levels = call.levels.map(({ level }) => level);
  const withheld = call.route.features.withheldFrom(call);
  const description = withoutWithheld(describeRoute({ ...call.route, levels }), withheld);
  return { status: 200, text: JSON.stringify(description) };
}

function withoutWithheld(
  { parameters, filter, answer, ...route }: RouteDescription,
  withheld: Required<Withheld>,
): RouteDescription {
  const isKept = (name: string) => !withheld.fields.includes(name);
  const fields = filter?.fields.filter(({ path }) => isKept(path));
  return {
    ...route,
    parameters: parameters.filter(({ name }) => !withheld.parameters.includes(name))
      .map((each) => ({ ...each, ...each.fields && { fields: each.fields.filter(isKept) } })),
    ...filter && fields && { filter: { ...filter, fields } },
    answer: answer.filter(({ name }) => isKept(name)),
  };
}

/** Routes with equal bodies share one object, so that the OpenAPI document describes this body only once. */
export function routeObjects(
  route: Route,
): { readonly body?: ObjectNode; readonly answer?: ObjectNode } {
  const { change, status, origin } = route.operation;
  const { target, shape, link, action, rights, writes = {}, bytes } = actingLevel(route);
  const isStrict = route.strict.bodies;
  const embedded = link?.embedded === true;
  const object = (view: View) => describeObject(shape, { view, embedded });
  const countsEntities = change === "merge" && origin === "list";
  const answersEntity = action?.answer === undefined || action.answer === target;
  const isNew = change === "replace" ? !isStrict : origin === "new";
  const view = isNew ? "new" : change === "replace" ? "replacement" : "patch";
  const body = bytes !== undefined
    ? undefined
    : change === "merge"
    ? narrowBody(object(view), writes)
    : change === "replace"
    ? narrowBody(object(view), { by: "_id", ...writes })
    : dataObject(action?.body, { view: "new", rights });
  const answer = answersEntity
    ? object("answer")
    : dataObject(action.answer, { view: "result", rights });
  const hasAnswer = status !== 204 && !countsEntities && bytes?.answer === undefined &&
    answer !== undefined;
  return { ...body && { body }, ...hasAnswer && { answer } };
}

function describeBytes({ body, maxBytes, answer }: Partial<BytesFacts> = {}): BytesDescription {
  return {
    ...body && { body: Object.keys(body) },
    ...maxBytes !== undefined && { maxBytes },
    ...answer && { answer: Object.keys(answer) },
  };
}

/** `updateAll()` accepts only the fields in its option `fields`. */
function narrowBody(
  body: ObjectNode,
  { fields: names, by }: Partial<WriteRules>,
): ObjectNode {
  const { model, strict, isOpen, ignored, repeated, fields } = body;
  if (names !== undefined) {
    const taken = fields.filter(({ name }) => names.has(name));
    const none = { isOpen: false, ignored: [], repeated: [] };
    return { model, view: "changes", strict: true, fields: taken, ...none };
  }
  if (!fields.some(({ name, required }) => name === by && required)) return body;
  // The path contains the key, so the body need not contain it.
  const own = fields.map((each) => each.name === by ? { ...each, required: false } : each);
  const others = repeated.filter(({ name }) => name !== by);
  return { model, view: "replacement", strict, isOpen, ignored, repeated: others, fields: own };
}

/** The result is `undefined` for a Standard Schema, which no class describes. */
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

/**
 * If a library cannot convert its Standard Schema to JSON Schema, the body is described as an object with any fields.
 */
function describeSchemas(route: Route): Pick<RouteDescription, "bodySchema" | "answerSchema"> {
  const { operation, action } = actingLevel(route);
  const { body, answer } = action ?? {};
  return {
    ...operation === "updateAll" && { answerSchema: COUNTS },
    ...isSchema(body) && { bodySchema: jsonSchemaOf(body, "input") ?? { type: "object" } },
    ...isSchema(answer) && { answerSchema: jsonSchemaOf(answer, "output") ?? {} },
  };
}
