import type { PopulateOptions } from "../../declare/hooks/read_options.ts";
import { describeModel } from "../../declare/model/describe_model.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { isHookName } from "../../declare/operations/operation.ts";
import type { PopulateRule } from "../../filter/parameters/read_rules.ts";
import { referredTarget } from "../../pipeline/references/referred_model.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { describeShape, referenceIn } from "../../schema/fields/shape.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { unknownOption } from "../check_options.ts";
import type { Fail } from "./_check_rest.ts";

const OPTIONS: Record<keyof PopulateOptions, true> = {
  select: true,
  always: true,
  unguarded: true,
};

/**
 * Compiles the option `populate` of an operation.
 *
 * @throws {TypeError} If it is wrong; the message names the class, the operation and the property.
 */
export function compilePopulate(
  given: unknown,
  { shape, fail }: { readonly shape: Shape; readonly fail: Fail },
): ReadonlyMap<string, PopulateRule> {
  if (!isJsonObject(given)) throw fail(`needs an object as "populate"`);
  const entries = Object.entries(given).filter(([, options]) => options !== undefined);
  return new Map(entries.map(([name, options]) => {
    const failField: Fail = (problem) => fail(`has "${name}" in "populate", ${problem}`);
    return [name, compileField(shape.fields.get(name), { options, fail: failField })];
  }));
}

function compileField(
  field: FieldShape | undefined,
  { options, fail }: { readonly options: unknown; readonly fail: Fail },
): PopulateRule {
  const unseen = whyUnseen(field);
  if (field === undefined || unseen !== undefined) throw fail(`which ${unseen}`);
  const reference = referenceIn(field);
  if (reference === undefined) throw fail("which is no reference");
  const { select, always = false, unguarded = false } = readOptions(options, fail);
  const referred = referredTarget(reference);
  if (referred !== undefined) {
    if (select !== undefined) checkSelect(referred, { select, fail });
    if (!unguarded) checkGuards(referred, fail);
  }
  return { field, always, ...select && { select } };
}

function readOptions(options: unknown, fail: Fail): PopulateOptions {
  if (options === true) return {};
  if (!isJsonObject(options)) throw fail(`with something that is neither "true" nor an object`);
  const unknown = unknownOption(options, OPTIONS);
  if (unknown !== undefined) throw fail(`with an unknown option ${unknown}`);
  const { select, always, unguarded }: Record<string, unknown> = options;
  if (select !== undefined && !isNames(select)) {
    throw fail(`with "select", which is not a list of names`);
  }
  for (const [name, value] of Object.entries({ always, unguarded })) {
    if (value !== undefined && typeof value !== "boolean") {
      throw fail(`with "${name}", which is neither true nor false`);
    }
  }
  return options as PopulateOptions;
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function checkSelect(
  referred: ModelClass,
  { select, fail }: { readonly select: readonly string[]; readonly fail: Fail },
): void {
  const { fields } = describeShape(buildSchema(referred).schema);
  for (const name of select) {
    const problem = whyUnseen(fields.get(name));
    if (problem !== undefined) {
      throw fail(`with "${name}" of "${referred.name}" in "select", which ${problem}`);
    }
  }
}

/** Checks that no hook of `one()` of a class decides on who may see its entities, or on what of them. */
function checkGuards(referred: ModelClass, fail: Fail): void {
  const methods = describeModel(referred).rests.flatMap((rest) => rest.methods);
  const hooks = methods.filter(({ operation }) => operation === "one").flatMap(({ hooks }) =>
    Object.entries(hooks)
  );
  const [name] = hooks.find(([name, hook]) => isHookName(name) && hook !== undefined) ?? [];
  if (name === undefined) return;
  throw fail(
    `but hook "${name}" of one() of "${referred.name}" would not run: ` +
      `set "unguarded" if every client may see what its scope allows`,
  );
}
