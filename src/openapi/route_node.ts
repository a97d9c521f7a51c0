import type { Schema } from "mongoose";
import type { ModelClass } from "../declare/model/framework_model.ts";
import { STATUS_OF } from "../errors/refusals.ts";
import { keepsEntity } from "../declare/hooks/compose.ts";
import { fieldHookOf, leftOutBy } from "../declare/hooks/named_fields.ts";
import type { DataType } from "../declare/operations/action.ts";
import {
  isHookName,
  type OperationWords,
  operationWords,
} from "../declare/operations/operation.ts";
import type {
  AnswerHeader,
  BytesFacts,
  FilledFacts,
  MergedDescription,
} from "../pipeline/description.ts";
import { type FilterNode, filterNode } from "./schemas/filters/filter_node.ts";
import type { FilterLimits } from "../filter/q/limits.ts";
import { parameterFacts } from "../describe/describe_request.ts";
import { describeRoute, routeObjects } from "../describe/describe_route.ts";
import type { RouteDescription } from "../describe/describe_route.ts";
import { referredTarget } from "../pipeline/references.ts";
import { queryRouteOf } from "../http/query_method.ts";
import { actingLevel, type Route, takesQueryMethod } from "../pipeline/request/route.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { describeObject, type FieldNode, type ObjectNode } from "../describe/describe_object.ts";
import { fieldDefault } from "../schema/fields/field_default.ts";
import { isHiddenFromSome } from "../schema/fields/rights.ts";
import { referenceIn, shapeForAll } from "../schema/fields/shape.ts";
import { hasOwnJson } from "../schema/mongoose/documents/hide_in_json.ts";
import { isSchema } from "../schema/standard_schema.ts";
import { declaredKeys } from "../schema/mongoose/schemas/change_indexes.ts";
import { schemasWithin } from "../schema/mongoose/schemas/schema_members.ts";

export interface RouteNode
  extends Omit<RouteDescription, "body" | "answer" | "filter" | "bytes" | keyof OperationWords> {
  readonly body?: ObjectNode;
  readonly answer?: AnswerNode;
  readonly bytes?: BytesFacts | undefined;
  readonly filter?: { readonly object: FilterNode; readonly limits: FilterLimits };
  readonly words: OperationWords;
  readonly facts: MergedDescription;
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>> | undefined;
  readonly many: boolean;
  readonly isQuery?: true;
  readonly isOfMany: boolean;
  readonly property?: PropertyPlace;
  /** A required field, for the example of `BAD_DATA`. */
  readonly needed?: string;
  /** A unique index whose fields all readers see, for the example of `CONFLICT`. */
  readonly unique?: readonly string[];
  readonly isStrict: boolean;
  /** Whether functions of the application run, which can send errors without a `code`. */
  readonly isHooked: boolean;
  readonly isOpen: boolean;
}

export interface PropertyPlace {
  readonly name: string;
  readonly isSingle: boolean;
  readonly parent: string;
}

export interface AnswerNode {
  readonly object: ObjectNode;
  /** Hooks or a `toJSON` can replace the entity in the answer, so no field is required. */
  readonly isHooked: boolean;
  readonly isSelected: boolean;
  readonly lacks: readonly string[];
  readonly populated: ReadonlyMap<string, PopulatedNode>;
}

export interface PopulatedNode {
  /** Missing if the model or its JSON is unknown. */
  readonly object?: ObjectNode;
  /** The shown fields of a populated entity, besides `_id`. The default is all. */
  readonly select?: readonly string[];
  readonly always: boolean;
}

const ACTION_LINKS = {
  description: 'The URLs of the actions that can run on the entity, with `rel="action"`',
  schema: { type: "string" },
};

export function routeNode(route: Route): RouteNode {
  const { levels, limits, operation } = route;
  const acting = actingLevel(route);
  const { target, shape, hooks, options, filterPaths, action, answerHeaders, bytes, link } = acting;
  const facts = options.description;
  const { schema } = buildSchema(target);
  const place = { schema, model: target.name, listed: filterPaths };
  const { body, answer } = routeObjects(route);
  const { body: _body, answer: _answer, filter, ...described } = describeRoute(route);
  const unique = uniqueFields(schema);
  const needed = body && neededField(body, operation.change === "act" ? action?.body : target);
  return {
    ...described,
    ...body && { body },
    ...answer && { answer: answerNode(route, answer) },
    ...filter && { filter: { object: filterNode(shape, place), limits } },
    words: operationWords(hooks),
    facts: {
      ...facts,
      parameters: parameterFacts(acting),
      headers: { ...facts.headers, ...bytes?.headers },
      ...route.actions && {
        answer: { ...facts.answer, headers: { ...facts.answer.headers, Link: ACTION_LINKS } },
      },
    },
    answerHeaders: answerHeaders ?? bytes?.answerHeaders,
    bytes,
    many: operation.many && operation.change === undefined,
    isOfMany: operation.many,
    ...link && {
      property: {
        name: link.property,
        isSingle: !link.array,
        parent: levels.at(-2)?.target.name ?? "entity",
      },
    },
    ...needed !== undefined && { needed },
    ...unique && { unique },
    isStrict: route.strict.bodies,
    isOpen: acting.isOpen,
    isHooked: route.guard !== undefined && !acting.isOpen || route.getConnection !== undefined ||
      route.reporter.hasOnError ||
      action !== undefined ||
      levels.some((level) => level.scopes.length > 0 || Object.keys(level.hooks).some(isHookName)),
  };
}

export function queryNode(route: Route): RouteNode | undefined {
  if (!takesQueryMethod(route)) return undefined;
  const node = routeNode(queryRouteOf(route));
  const { operationId: _own, ...words } = node.words;
  const code = "UNSUPPORTED_MEDIA_TYPE";
  const errors = [...node.errors, { status: STATUS_OF[code], codes: [code] }];
  return { ...node, words, errors, isQuery: true };
}

/** The example of `BAD_DATA` lacks this field. Every sender can set it, so that everybody gets the same message. */
function neededField({ fields, view }: ObjectNode, data: DataType | undefined): string | undefined {
  if (data === undefined || isSchema(data)) return undefined;
  const shape = shapeForAll(buildSchema(data).schema);
  const isNeeded = view === "patch" || view === "changes" ? isNotNull : isRequired;
  return fields.filter(isNeeded).map(({ name }) => name).find((name) => {
    const field = shape.fields.get(name);
    const { hidden, readonly, required }: Record<string, unknown> = field?.type?.options ?? {};
    return field?.kind === "scalar" && required === true && hidden === undefined &&
      readonly === undefined && fieldDefault(field).kind === "nothing";
  });
}

function uniqueFields(schema: Schema): readonly string[] | undefined {
  const { fields } = shapeForAll(schema);
  const declared = schema.indexes().filter(([, { unique }]) => unique)
    .map(([keys]) => Object.keys(declaredKeys(schema, keys) ?? keys));
  return declared.find((names) =>
    names.every((name) => {
      const field = fields.get(name);
      return field !== undefined && !field.hidden && !isHiddenFromSome(field);
    })
  );
}

function isNotNull({ nullable }: FieldNode): boolean {
  return !nullable;
}

function isRequired({ required }: FieldNode): boolean {
  return required;
}

const CHANGING = ["fetch", "postFetch", "persist", "preSend"] as const;

function answerNode(route: Route, object: ObjectNode): AnswerNode {
  const { target, hooks, options, action } = actingLevel(route);
  const { filled, isPartial } = options.description.answer;
  const { answer } = action ?? {};
  const isHooked = makesOwnJson(answer === undefined || isSchema(answer) ? target : answer) ||
    object.view === "answer" &&
      CHANGING.some((name) => hooks[name] !== undefined && !keepsFields(hooks[name]));
  const populated = Array.from(filled, ([name, field]) => [name, populatedNode(field)] as const);
  return {
    object,
    isHooked,
    isSelected: isPartial,
    lacks: leftOutBy(hooks.preSend),
    populated: new Map(populated),
  };
}

/**
 * Hooks such as `onlyIf()` and `leaveOut()` change no values, so the schema of the class still describes the answer.
 */
function keepsFields(hook: object): boolean {
  return keepsEntity(hook) || fieldHookOf(hook) !== undefined;
}

function makesOwnJson(target: ModelClass): boolean {
  return [...schemasWithin(buildSchema(target).schema)].some(hasOwnJson);
}

function populatedNode({ field, select, always }: FilledFacts): PopulatedNode {
  const reference = referenceIn(field);
  const target = reference && referredTarget(reference);
  if (target === undefined || makesOwnJson(target)) return { always };
  const shape = shapeForAll(buildSchema(target).schema);
  return {
    object: describeObject(shape, { view: "answer", embedded: false }),
    always,
    ...select && { select },
  };
}
