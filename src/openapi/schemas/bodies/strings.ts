import type { ValueNode } from "../../../describe/describe_object.ts";
import type { Constraints } from "../../../schema/mongoose/schemas/field_rules.ts";
import { type JsonSchema, oneOf } from "../json_schema.ts";

/** The maximum length of a number as a string. */
const MOST_OF_NUMBER = 25;

export function describeString({ constraints, filled, reworked }: ValueNode): JsonSchema {
  const texts = constraints.enum?.filter((each) => typeof each === "string");
  const passes = (text: string) => isAllowed(text, { constraints, filled });
  if (texts !== undefined && reworked.length === 0) {
    const allowed = texts.filter(passes);
    return oneOf([...allowed, ...allowed.flatMap(sameAs)]);
  }
  const { description, ...text } = reworked.length > 0
    ? describeReworked({ constraints, filled, reworked })
    : describeUnchanged({ constraints, filled });
  const numbers = texts?.flatMap(sameAs).filter((each) => typeof each === "number") ?? [];
  const booleans = [true, false].filter((each) => passes(rework(String(each), reworked)));
  const others = [
    ...takesNumbers(constraints) ? [{ type: "number" }] : [],
    ...[numbers, booleans].filter((each) => each.length > 0).map(oneOf),
  ];
  return {
    ...others.length === 0 ? text : { anyOf: [text, ...others] },
    ...description !== undefined && { description },
  };
}

export function describeStrictString({ constraints, filled, reworked }: ValueNode): JsonSchema {
  const texts = constraints.enum?.filter((each) => typeof each === "string");
  if (texts !== undefined && reworked.length === 0) {
    return oneOf(texts.filter((text) => isAllowed(text, { constraints, filled })));
  }
  return reworked.length > 0
    ? describeReworked({ constraints, filled, reworked })
    : describeUnchanged({ constraints, filled });
}

/** A string field takes numbers only if no number, as a string, can break the constraints. */
function takesNumbers(
  { enum: allowed, minLength = 0, maxLength = Infinity, match }: Constraints,
) {
  const isAny = allowed === undefined && match === undefined;
  return isAny && minLength <= 1 && maxLength >= MOST_OF_NUMBER;
}

/**
 * The string that Mongoose stores for a boolean. Of options such as `trim` and `lowercase`, only `uppercase` changes
 * it.
 */
function rework(text: string, reworked: readonly string[]): string {
  return reworked.includes("uppercase") ? text.toUpperCase() : text;
}

/** Finds the boolean or number that a client can send instead of the string, because Mongoose casts it. */
function sameAs(text: string): unknown[] {
  if (text === "true" || text === "false") return [text === "true"];
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text ? [number] : [];
}

type ConstrainedNode = Pick<ValueNode, "constraints" | "filled">;

function isAllowed(text: string, { constraints, filled }: ConstrainedNode): boolean {
  const { enum: allowed, minLength = 0, maxLength = Infinity, match } = constraints;
  if (filled && text === "") return false;
  if (allowed !== undefined && !allowed.includes(text)) return false;
  return text.length >= minLength && text.length <= maxLength && matches(text, match);
}

/** Mongoose does not apply `match` to an empty string. */
function matches(text: string, match: RegExp | undefined): boolean {
  return match === undefined || text === "" || new RegExp(match).test(text);
}

/** The constraints apply after options such as `trim`, which JSON Schema cannot express. The description names them. */
function describeReworked(
  { constraints, filled, reworked }: ConstrainedNode & Pick<ValueNode, "reworked">,
): JsonSchema {
  const { enum: allowed, minLength, maxLength, match } = constraints;
  const phrases = [
    ...allowed === undefined ? [] : [`one of ${JSON.stringify(allowed)}`],
    ...minLength === undefined ? [] : [`at least ${minLength} characters`],
    ...maxLength === undefined ? [] : [`at most ${maxLength} characters`],
    ...match === undefined ? [] : [`matches ${match}`],
  ];
  return {
    type: "string",
    ...filled && { minLength: 1 },
    ...filled && reworked.includes("trim") && { pattern: "\\S" },
    ...phrases.length > 0 &&
      { description: `After ${reworked.join(" and ")}: ${phrases.join(", ")}` },
  };
}

function describeUnchanged({ constraints, filled }: ConstrainedNode): JsonSchema {
  const { minLength = 0, maxLength, match } = constraints;
  const least = Math.max(minLength, filled ? 1 : 0);
  const pattern = patternOf(match, least === 0);
  const hint = match !== undefined && pattern === undefined && `Matches ${match}`;
  return {
    type: "string",
    ...least > 0 && { minLength: least },
    ...maxLength !== undefined && { maxLength },
    ...pattern !== undefined && { pattern },
    ...hint && { description: hint },
  };
}

/** Validators compile patterns with the flag `u` and no other, so a pattern that needs others is left out. */
function patternOf(match: Constraints["match"], mayBeEmpty: boolean): string | undefined {
  if (match === undefined || !/^u?$/.test(match.flags)) return undefined;
  try {
    new RegExp(match.source, "u");
  } catch {
    return undefined;
  }
  return mayBeEmpty && !match.test("") ? `^$|(?:${match.source})` : match.source;
}
