import type { FilterDescription } from "../describe/describe_filter.ts";
import type { HeaderDescription, RouteDescription } from "../describe/describe_route.ts";
import { ANY_ID } from "../describe/paths.ts";
import { actingLevel } from "../pipeline/request/route.ts";
import type { RouteAnswer, RouteCall } from "./_call_route.ts";
import { type ExposedModel, type ExposedRoute, PAGE_SIZE } from "./_exposed_models.ts";

export function describeForTools(models: ReadonlyMap<string, ExposedModel>): object {
  return {
    models: [...models.values()].map(({ name, operations, actions }) => ({
      model: name,
      operations: [...operations.keys()],
      ...actions.size > 0 && { actions: [...actions.keys()] },
    })),
  };
}

interface DescribeOptions {
  readonly id: string | undefined;
  readonly send: (call: RouteCall) => Promise<RouteAnswer>;
}

export async function describeForUser(
  { name, operations, actions }: ExposedModel,
  { id = ANY_ID, send }: DescribeOptions,
): Promise<object | { readonly refusal: RouteAnswer }> {
  const refusals: RouteAnswer[] = [];
  const descriptions: object[] = [];
  let fields: RouteDescription["answer"] | undefined;
  for (const [of, exposed] of [...operations, ...actions]) {
    const isRead = exposed.mounted.operation.verb === "get";
    const answer = await send({ exposed, id, describes: true, body: isRead ? undefined : {} });
    const own = actions.get(of) === exposed ? { action: of } : { operation: of };
    if (answer.status === 200) {
      const described = answer.body as RouteDescription;
      if ("operation" in own) fields ??= described.answer;
      descriptions.push({ ...own, ...describeOperation(described, { fields, exposed }) });
    } else {
      refusals.push(answer);
      descriptions.push({ ...own, refused: { status: answer.status, error: answer.body } });
    }
  }
  const [refusal] = refusals;
  if (refusal !== undefined && refusals.length === descriptions.length) return { refusal };
  return { model: name, ...fields && { fields }, operations: descriptions };
}

const OF_LISTS = ["q", "sort", "limit", "after", "skip", "select", "search", "populate"];

const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  all: OF_LISTS,
  one: ["select", "populate"],
  create: [],
  update: [],
};

const HEADERS: { readonly [N in HeaderDescription["name"]]?: string } = {
  "If-Match": "ifMatch",
  "Idempotency-Key": "idempotencyKey",
};

/** Leaves out the fields of an answer if they equal `fields`, which are listed once for the model. */
function describeOperation(
  { operation, answer, filter, parameters, headers, ...route }: RouteDescription,
  { fields, exposed }: {
    readonly fields: RouteDescription["answer"] | undefined;
    readonly exposed: ExposedRoute;
  },
): object {
  const isAction = !Object.hasOwn(PARAMETERS, operation);
  const taken = [
    ...PARAMETERS[operation] ?? (route.path.includes("/:id") ? [] : ["q"]),
    ...Object.keys(actingLevel(exposed.route).added ?? {}),
  ];
  const { summary, description, body, bodySchema, answerSchema } = route;
  const args = [
    ...parameters.filter(({ name }) => taken.includes(name)).map(({ in: _, ...parameter }) => ({
      ...parameter,
      ...parameter.default && { default: Math.min(parameter.default, PAGE_SIZE) },
    })),
    ...headers.flatMap(({ name, required, preferences }) => {
      if (preferences?.includes("count=exact")) return [{ name: "count", required }];
      const named = isAction || operation !== "one" && operation !== "all"
        ? HEADERS[name]
        : undefined;
      return named === undefined ? [] : [{ name: named, required }];
    }),
  ];
  const isOther = answer.length > 0 && JSON.stringify(answer) !== JSON.stringify(fields);
  return {
    summary,
    description,
    arguments: args,
    ...taken.includes("q") && filter && { filter: filtersOf(filter) },
    body,
    bodySchema,
    ...isOther && { answer },
    answerSchema,
  };
}

function filtersOf({ fields }: FilterDescription): object[] {
  const paths = new Map<string, string[]>();
  for (const { path, operators } of fields) {
    const key = operators.join(" ");
    paths.set(key, [...paths.get(key) ?? [], path]);
  }
  return [...paths].map(([key, paths]) => ({ paths, operators: key.split(" ") }));
}
