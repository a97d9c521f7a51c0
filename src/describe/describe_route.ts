import type { OptionDescriptions } from "../declare/options.ts";
import type { HookName } from "../declare/hooks/hooks.ts";
import type { DataType } from "../declare/operations/action.ts";
import { leftOutBy } from "../declare/hooks/named_fields.ts";
import {
  isHookName,
  type OperationWords,
  operationWords,
} from "../declare/operations/operation.ts";
import type { FilterDescription } from "./describe_filter.ts";
import type { BytesFacts, Withheld } from "../pipeline/description.ts";
import type { Call } from "../pipeline/request/request_context.ts";
import type { TextAnswer } from "../pipeline/request/answer.ts";
import {
  actingLevel,
  type Route,
  takesQueryMethod,
  type WriteLimits,
} from "../pipeline/request/route.ts";
import { runAround } from "../pipeline/plugins/run_around.ts";
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

/** @internal A parameter in the path or in the query string. */
export interface ParameterDescription {
  readonly name: string;
  readonly in: "path" | "query";
  /** Only parameters of the path and `q` can be required. */
  readonly required: boolean;
  /** The names that `sort`, `select`, `populate`, `group`, `sum` or `avg` takes. */
  readonly fields?: readonly string[];
  /** The default of `limit`. */
  readonly default?: number;
  /** The greatest `limit`. */
  readonly maximum?: number;
  /** The type of the `_id` in a path, if it is no `ObjectId`. */
  readonly idType?: "String" | "Number" | "UUID";
}

/** @internal A request header that the operation reads. */
export interface HeaderDescription {
  readonly name:
    | ("If-Match" | "If-None-Match" | "Prefer" | "Idempotency-Key" | "Last-Event-ID")
    | ("Range" | "If-Range" | "Content-Disposition");
  readonly required: boolean;
  /** The preferences in `Prefer`. `max-affected` needs a number. */
  readonly preferences?: readonly ("count=exact" | "return=minimal" | "max-affected")[];
}

/** @internal The limits of a write. */
export interface WriteDescription {
  /** The maximum number of entities in a body. Missing for a single entity. */
  readonly many?: number;
  readonly atomic?: boolean;
  /** The maximum number of entities to change or remove. */
  readonly max?: number;
  /** The field that names an entity in the path of `replace()`. */
  readonly by?: string;
  /** The time for which keys of `Idempotency-Key` are stored, in milliseconds. */
  readonly keepMS?: number;
}

/** @internal Bodies and answers that are bytes. */
export interface BytesDescription {
  readonly body?: readonly string[];
  /** The maximum number of bytes. A larger body answers 413. */
  readonly maxBytes?: number;
  /** The media types of the answer. Missing if it is JSON or empty. */
  readonly answer?: readonly string[];
}

/** @internal The errors of a route with the same HTTP status. */
export interface ErrorDescription {
  readonly status: number;
  /** The values of `code`. Hooks can answer other codes. */
  readonly codes: readonly string[];
}

/** The description of a route. */
export interface RouteDescription extends OperationWords, OptionDescriptions {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path in the router. */
  readonly path: string;
  /** The name of the operation or of the action. */
  readonly operation: string;
  /** The class of the entities. A sub-route has the class of its last segment. */
  readonly model: string;
  /** The parameters. A router with `strict` refuses any other. */
  readonly parameters: readonly ParameterDescription[];
  /** Whether clients can send the parameters in the body of a `QUERY`. */
  readonly queryMethod?: true;
  /** The headers that change the effect of a request, except `Accept` and `Content-Type`. */
  readonly headers: readonly HeaderDescription[];
  /** The paths and operators in `q`. */
  readonly filter?: FilterDescription;
  /** How many entities a write may have, and whether all succeed or none. */
  readonly writes?: WriteDescription;
  /** Bodies and answers that are bytes. */
  readonly bytes?: BytesDescription;
  /** The fields that a body can set. Missing without a body. */
  readonly body?: readonly FieldDescription[];
  /** The JSON Schema of a body that a Standard Schema describes. `body` is then empty. */
  readonly bodySchema?: Readonly<Record<string, unknown>>;
  /** The fields of each entity in the answer. Empty without a body. */
  readonly answer: readonly FieldDescription[];
  /** The JSON Schema of an answer that no class describes. `answer` is then empty. */
  readonly answerSchema?: Readonly<Record<string, unknown>>;
  /** The HTTP status of success. It is 204 if the answer has no body. */
  readonly status: number;
  /** Whether the function `available` decides for each entity if the action can run. */
  readonly conditional?: true;
  /** The errors of the framework. Hooks and middleware can answer others. */
  readonly errors: readonly ErrorDescription[];
  /** The hooks of the operation. */
  readonly hooks: readonly HookName[];
  /**
   * The rules that decide who may use the route, such as `guard signedIn`, or `everybody`. Missing in a description for
   * clients.
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
    ...operationWords(hooks),
  };
}

/** `call` must be admitted, so that a refused reader gets no description. */
export async function describeCall(call: Call): Promise<TextAnswer> {
  return await runAround(call, {
    purpose: "description",
    read: () => call,
    run: (each) => Promise.resolve(describe(each)),
  });
}

function describe(call: Call): TextAnswer {
  const levels = call.levels.map(({ level }) => level);
  const withheld = call.route.features.withheldFrom(call);
  const description = withoutWithheld(describeRoute({ ...call.route, levels }), withheld);
  return { kind: "text", status: 200, text: JSON.stringify(description) };
}

function withoutWithheld(
  { parameters, filter, answer, ...route }: RouteDescription,
  withheld: Withheld,
): RouteDescription {
  const isVisible = (name: string) => !withheld.fields.includes(name);
  const fields = filter?.fields.filter(({ path }) => isVisible(path));
  return {
    ...route,
    parameters: parameters.filter(({ name }) => !withheld.parameters.includes(name))
      .map((each) => ({ ...each, ...each.fields && { fields: each.fields.filter(isVisible) } })),
    ...filter && fields && { filter: { ...filter, fields } },
    answer: answer.filter(({ name }) => isVisible(name)),
  };
}

/** Equal bodies share one object, so that the OpenAPI document describes them once. */
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

function narrowBody(
  body: ObjectNode,
  { fields: names, by }: Partial<WriteLimits>,
): ObjectNode {
  const { model, strict, isOpen, ignored, repeated, fields } = body;
  if (names !== undefined) {
    const taken = fields.filter(({ name }) => names.has(name));
    const none = { isOpen: false, ignored: [], repeated: [] };
    return { model, view: "changes", strict: true, fields: taken, ...none };
  }
  if (!fields.some(({ name, required }) => name === by && required)) return body;
  // The path of the request contains the key, so the body may leave it out.
  const own = fields.map((each) => each.name === by ? { ...each, required: false } : each);
  const others = repeated.filter(({ name }) => name !== by);
  return { model, view: "replacement", strict, isOpen, ignored, repeated: others, fields: own };
}

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

/** If a library cannot convert its schema, a body may be any object and an answer any value. */
function describeSchemas(route: Route): Pick<RouteDescription, "bodySchema" | "answerSchema"> {
  const { operation, action } = actingLevel(route);
  const { body, answer } = action ?? {};
  return {
    ...operation === "updateAll" && { answerSchema: COUNTS },
    ...isSchema(body) && { bodySchema: jsonSchemaOf(body, "input") ?? { type: "object" } },
    ...isSchema(answer) && { answerSchema: jsonSchemaOf(answer, "output") ?? {} },
  };
}
