import type { Request, RequestHandler } from "express-types";
import { RestError } from "../errors/rest_error.ts";
import { actingLevel } from "../pipeline/request/route.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { badArgument, checkArguments, parametersIn } from "./_arguments.ts";
import type { Arguments, ArgumentSchema, ArgumentsSchema } from "./_arguments.ts";
import { callRoute, type RouteAnswer, type RouteCall } from "./_call_route.ts";
import { describeForTools, describeForUser } from "./_describe_models.ts";
import { type ExposedModel, type ExposedRoute, PAGE_SIZE } from "./_exposed_models.ts";
import type { ExposedOperation } from "./options.ts";

interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ArgumentsSchema;
  readonly annotations: Hints;
}

export interface Tool {
  readonly description: ToolDescription;
  readonly call: (req: Request, given: JsonObject) => Promise<object>;
}

interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

const TEXT = { type: "string", minLength: 1 } as const;
const TEXTS = { type: "array", items: { type: "string" } } as const;
const BODY = { type: "object" } as const;

const MODEL = { ...TEXT, description: "The model" };
const ID = { ...TEXT, description: "The `_id` of the entity" };
const Q = {
  type: "object",
  description: 'A filter in the query language of MongoDB, such as {"year":{"$gte":1970}}',
} as const;
const SELECT = { ...TEXTS, description: "The fields to show; all of them without it" };
const POPULATE = { ...TEXTS, description: "The references to replace with their entities" };
const IF_MATCH = {
  ...TEXT,
  description: "The `etag` of the entity as it was read: if it has changed since, the call fails",
};

const HINTS: Hints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
};
const READS: Hints = {
  ...HINTS,
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
};

/** Without `operation`, the tool calls actions. */
interface ToolTemplate {
  readonly description: string;
  readonly operation?: ExposedOperation;
  readonly args: ArgumentsSchema["properties"];
  readonly required: ArgumentsSchema["required"];
  readonly hints: Hints;
  readonly request: (args: Arguments, exposed: ExposedRoute) => Omit<RouteCall, "exposed">;
  readonly result: (answer: RouteAnswer, exposed: ExposedRoute) => object;
}

const TEMPLATES: Readonly<Record<"list" | "read" | "create" | "update" | "action", ToolTemplate>> =
  {
    list: {
      description: "Lists entities of a model, a page at a time. " +
        "To go on, call it again with what `next` holds in addition",
      operation: "all",
      args: {
        model: MODEL,
        q: Q,
        sort: {
          ...TEXTS,
          description: "The fields to sort by. A `-` before a field sorts in descending order",
        },
        limit: { type: "integer", description: "The maximum number of entities in a page" },
        after: { ...TEXT, description: "Where the page begins" },
        skip: { type: "integer", description: "The number of entities before the page" },
        select: SELECT,
        search: { ...TEXT, description: "The words to search for" },
        populate: POPULATE,
        count: { type: "boolean", description: "Whether to tell the total" },
      },
      required: ["model"],
      hints: READS,
      request: ({ count = false, ...args }, { route }) => {
        const { parameters } = actingLevel(route).options.description;
        const limit = Math.min(parameters.limit?.default ?? PAGE_SIZE, PAGE_SIZE);
        return {
          query: parametersIn({ limit, ...args }),
          ...count && { headers: { prefer: "count=exact" } },
        };
      },
      result: ({ body, header }) => {
        const next = nextOf(header("link"));
        const total = header("x-total-count");
        return { entities: body, ...next && { next }, ...total && { total: Number(total) } };
      },
    },
    read: {
      description: "Reads an entity of a model",
      operation: "one",
      args: { model: MODEL, id: ID, select: SELECT, populate: POPULATE },
      required: ["model", "id"],
      hints: READS,
      request: ({ id, ...args }) => ({ id, query: parametersIn(args) }),
      result: entityOf,
    },
    create: {
      description: "Creates an entity of a model",
      operation: "create",
      args: {
        model: MODEL,
        body: { ...BODY, description: "The fields of the entity" },
        idempotencyKey: {
          ...TEXT,
          description:
            "A text of your own: a call that is repeated with it creates nothing more, where the model keeps such keys",
        },
      },
      required: ["model", "body"],
      hints: { ...HINTS, destructiveHint: false },
      request: ({ body, idempotencyKey: key }) => ({
        body,
        headers: key === undefined ? {} : { "idempotency-key": key },
      }),
      result: entityOf,
    },
    update: {
      description: "Changes fields of an entity",
      operation: "update",
      args: {
        model: MODEL,
        id: ID,
        body: {
          ...BODY,
          description: "A JSON merge patch: what it leaves out stays, and null clears a field",
        },
        ifMatch: IF_MATCH,
      },
      required: ["model", "id", "body"],
      hints: { ...HINTS, idempotentHint: true },
      request: ({ id, body, ifMatch }) => ({ id, body, headers: matching(ifMatch) }),
      result: entityOf,
    },
    action: {
      description: "Runs an action of a model: on an entity, or on all that a filter selects",
      args: {
        model: MODEL,
        action: { ...TEXT, description: "The name of the action" },
        id: { ...ID, description: "The `_id` of the entity, for an action on one" },
        q: { ...Q, description: "A filter, for an action on all" },
        body: { ...BODY, description: "The body, for an action that takes one" },
        ifMatch: IF_MATCH,
      },
      required: ["model", "action"],
      hints: HINTS,
      request: ({ id, q, body, ifMatch, ...added }, { mounted: { operation: { item, verb } } }) => {
        if (item && id === undefined) {
          throw badArgument("id", "missing: the action is on one entity");
        }
        if (!item && id !== undefined) throw badArgument("id", "not for an action on all");
        if (verb === "get" && body !== undefined) throw badArgument("body", "not for this action");
        const sent = verb === "get" ? undefined : body ?? {};
        return {
          id,
          query: parametersIn({ ...q && { q }, ...added }),
          body: sent,
          headers: matching(ifMatch),
        };
      },
      result: ({ body, header }, exposed) => {
        const isPaged = addedArguments(exposed).after?.type === "integer";
        const { after } = isPaged ? nextOf(header("link")) ?? {} : {};
        return {
          ...body !== undefined && { answer: body },
          ...after !== undefined && { next: { after: Number(after) } },
        };
      },
    },
  };

export function toolsFor(
  api: RequestHandler,
  models: ReadonlyMap<string, ExposedModel>,
): readonly Tool[] {
  const used = Object.entries(TEMPLATES).flatMap(([name, template]) => {
    const own = [...models.values()].filter((model) => routesFor(template, model).size > 0);
    return own.length === 0 ? [] : [toolOf(name, { template, models: own, api })];
  });
  return [describeTool(api, models), ...used];
}

function describeTool(api: RequestHandler, models: ReadonlyMap<string, ExposedModel>): Tool {
  const inputSchema = schemaOf({
    model: {
      ...TEXT,
      enum: [...models.keys()],
      description: "The model; without it, all are named",
    },
    id: { ...TEXT, description: "The `_id` of an entity, where guards look at it" },
  }, []);
  const description = "Tells the models, or of one its fields, filters, operations and actions";
  return {
    description: { name: "describe", description, inputSchema, annotations: READS },
    call: (req, given) =>
      answered(async () => {
        const { model, id } = checkArguments(given, inputSchema);
        const described = models.get(model ?? "");
        if (described === undefined) return done(describeForTools(models));
        const send = (call: RouteCall) => callRoute(api, { req, call });
        const description = await describeForUser(described, { id, send });
        return "refusal" in description ? failed(description.refusal) : done(description);
      }),
  };
}

interface ToolSetting {
  readonly template: ToolTemplate;
  readonly models: readonly ExposedModel[];
  readonly api: RequestHandler;
}

function toolOf(name: string, { template, models, api }: ToolSetting): Tool {
  const { description, args, required, result, request, hints } = template;
  const routes = new Map(models.map((model) => [model.name, routesFor(template, model)]));
  const names = [...new Set([...routes.values()].flatMap((each) => [...each.keys()]))];
  const isOfActions = template.operation === undefined;
  const all = [...routes.values()].flatMap((each) => [...each.values()]);
  const inputSchema = schemaOf({
    ...Object.assign({}, ...all.map(addedArguments)),
    ...args,
    model: { ...MODEL, enum: [...routes.keys()] },
    ...isOfActions && args.action && { action: { ...args.action, enum: names } },
  }, required);
  const changes = all.some(({ mounted }) => mounted.operation.verb !== "get");
  return {
    description: { name, description, inputSchema, annotations: changes ? hints : READS },
    call: (req, given) =>
      answered(async () => {
        const { model = "", action = "", ...others } = checkArguments(given, inputSchema);
        const exposed = routes.get(model)?.get(template.operation ?? action);
        if (exposed === undefined) throw badArgument("action", `none of "${model}"`);
        const own = { ...args, ...addedArguments(exposed) };
        const foreign = Object.keys(others).find((each) => !Object.hasOwn(own, each));
        if (foreign !== undefined) throw badArgument(foreign, `not for "${model}"`);
        const call = { exposed, ...request(others, exposed) };
        const answer = await callRoute(api, { req, call });
        return answer.status < 300 ? done(result(answer, exposed)) : failed(answer);
      }),
  };
}

function routesFor(
  { operation }: ToolTemplate,
  { operations, actions }: ExposedModel,
): ReadonlyMap<string, ExposedRoute> {
  if (operation === undefined) return actions;
  return new Map([...operations].filter(([name]) => name === operation));
}

function addedArguments({ route }: ExposedRoute): Readonly<Record<string, ArgumentSchema>> {
  const { added = {} } = actingLevel(route);
  return Object.fromEntries(
    Object.entries(added).map(([name, { text, schema }]) => {
      const { type, enum: values } = schema as Pick<ArgumentSchema, "type" | "enum">;
      return [name, { type, description: text, ...values && { enum: values } }];
    }),
  );
}

function schemaOf(
  properties: ArgumentsSchema["properties"],
  required: ArgumentsSchema["required"],
): ArgumentsSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

async function answered(call: () => Promise<object>): Promise<object> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof RestError) return failed(error);
    throw error;
  }
}

/** Older clients read only the text, so the result is sent in both forms. */
function done(result: object): object {
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
}

/** Assistants cannot see errors of the protocol, so they could not correct the call. */
function failed({ status, body }: Pick<RouteAnswer, "status" | "body">): object {
  return { ...done({ status, error: body }), isError: true };
}

function entityOf({ body, header }: RouteAnswer): object {
  const etag = header("etag");
  return body === undefined ? {} : { entity: body, ...etag && { etag } };
}

function matching(ifMatch: string | undefined): Record<string, string> {
  return ifMatch === undefined ? {} : { "if-match": ifMatch };
}

function nextOf(links: string | undefined): Pick<Arguments, "after" | "skip"> | undefined {
  const [, query = ""] = /\?([^>]*)>; rel="next"/.exec(links ?? "") ?? [];
  const parameters = new URLSearchParams(query);
  const after = parameters.get("after");
  const skip = parameters.get("skip");
  if (after !== null) return { after };
  return skip === null ? undefined : { skip: Number(skip) };
}
