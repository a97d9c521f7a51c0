import type { RestRecord } from "../declare/model/records.ts";
import type { ActionRecord } from "../declare/operations/action.ts";
import type { Method } from "../declare/operations/methods.ts";
import type { PartDescription } from "../schema/describe_parts.ts";
import type { ClassRule } from "./class_feature.ts";
import type { AnswerHeader, BytesFacts, ParameterFacts } from "./description.ts";
import type { Reply } from "./request/reply.ts";
import type { LevelContext, OpenLevelContext } from "./request/request_context.ts";

/**
 * A route that a class option adds to a class, such as the route to the history of an entity. Descriptions of the API
 * show the route as an action.
 */
export interface ClassMethod extends Omit<ActionRecord, "run"> {
  readonly operation: string;
  /**
   * The hooks of another operation, such as `one()`, which also run for this route. A caller from whom `one()` hides an
   * entity can therefore not read its history.
   */
  readonly hooks: Method["hooks"];
  /** The query parameters that the route reads, by name. */
  readonly parameters?: Readonly<Record<string, ParameterFacts>>;
  /** The headers of the answer, for the OpenAPI document. */
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>>;
  perform(context: OpenLevelContext): Promise<Reply>;
}

/**
 * An operation on a property, such as the upload of a file, for which a class option answers the requests in the place
 * of the framework.
 */
export interface PartMethod extends Pick<Method, "operation" | "hooks"> {
  /** The description of bodies and answers that are bytes and no JSON, for the OpenAPI document. */
  readonly bytes?: BytesFacts;
  /**
   * Throws a 403 if the reader of the request has no right to the route, such as the upload of a file to a property
   * that is read-only for this reader.
   */
  checkRights?(context: LevelContext): void;
  /** Checks a request before any entity is read, such as the media type of its body. Throws an error for the client. */
  checkRequest?(context: LevelContext): void;
  /** Answers a request, after the parents in its path have been read. */
  perform(context: OpenLevelContext): Promise<Reply>;
}

/**
 * Returns the functions that answer the requests of a route, with their descriptions, if a class option has added the
 * route. Returns `undefined` for any other route.
 */
export function performOf(
  method: object,
):
  | Pick<
    ClassMethod & PartMethod,
    "perform" | "parameters" | "answerHeaders" | "checkRights" | "checkRequest" | "bytes"
  >
  | undefined {
  return "perform" in method ? method as ClassMethod & PartMethod : undefined;
}

/**
 * Returns the operations that a class option adds to a property that holds an entity of the class, such as the upload
 * of a file. Returns `undefined` if no class option adds operations.
 */
export function partMethodsOfRules(
  rules: readonly ClassRule[],
  part: PartDescription,
): readonly PartMethod[] | undefined {
  return rules.map(({ feature, rule }) => feature.partMethods?.(rule, part)).find((each) => each);
}

/**
 * Returns the routes that the class options add to one `@rest` of a class. If another `@rest` has the option, an open
 * `@rest` does not open these routes, because they show more than its own operations, such as the history of an entity.
 */
export function methodsOfRules(
  rules: readonly ClassRule[],
  rest: RestRecord,
): (ClassMethod & ActionRecord)[] {
  const methods = rules.flatMap(({ feature, rule }) => {
    const added = feature.methods?.(rule, rest) ?? [];
    if (rest[feature.name as keyof RestRecord] !== undefined) return added;
    return added.map((method) => ({ ...method, hooks: { ...method.hooks, open: false } }));
  });
  return methods.map((method) => ({ ...method, run: notAnAction }));
}

function notAnAction(): never {
  throw new TypeError("Cannot run a route of a class option as an action");
}
