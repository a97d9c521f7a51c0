import type { RestRecord } from "../declare/model/records.ts";
import type { ActionRecord } from "../declare/operations/action.ts";
import type { Method } from "../declare/operations/methods.ts";
import type { PartDescription } from "../schema/describe_parts.ts";
import type { ConfiguredFeature } from "./class_feature.ts";
import type { AnswerHeader, BytesFacts, ParameterFacts } from "./description.ts";
import type { Answer } from "./request/answer.ts";
import type { LevelContext, OpenLevelContext } from "./request/request_context.ts";

export interface ClassMethod extends Omit<ActionRecord, "run"> {
  readonly operation: string;
  /** Hooks of another operation also run here, so that nobody reads the history of an entity that `one()` hides. */
  readonly hooks: Method["hooks"];
  readonly parameters?: Readonly<Record<string, ParameterFacts>>;
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>>;
  perform(context: OpenLevelContext): Promise<Answer>;
}

/** A method of a property that a class option answers, such as an upload. */
export interface PartMethod extends Pick<Method, "operation" | "hooks"> {
  readonly bytes?: BytesFacts;
  checkRights?(context: LevelContext): void;
  checkRequest?(context: LevelContext): void;
  perform(context: OpenLevelContext): Promise<Answer>;
}

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

export function partMethodsOf(
  features: readonly ConfiguredFeature[],
  part: PartDescription,
): readonly PartMethod[] | undefined {
  return features.map(({ feature, config }) => feature.partMethods?.(config, part)).find((each) =>
    each
  );
}

/**
 * If one `@rest` of a class has an option such as `history`, all get its routes. These show more, so `open` of another
 * `@rest` does not open them.
 */
export function methodsOf(
  features: readonly ConfiguredFeature[],
  rest: RestRecord,
): (ClassMethod & ActionRecord)[] {
  const methods = features.flatMap(({ feature, config }) => {
    const added = feature.methods?.(config, rest) ?? [];
    if (rest[feature.name as keyof RestRecord] !== undefined) return added;
    return added.map((method) => ({ ...method, hooks: { ...method.hooks, open: false } }));
  });
  return methods.map((method) => ({ ...method, run: notAnAction }));
}

function notAnAction(): never {
  throw new TypeError("Cannot run a route of a class option as an action");
}
