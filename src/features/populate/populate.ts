import { bindingRests } from "../../declare/model/describe_model.ts";
import { forAll } from "../../errors/for_all.ts";
import { projectionOf } from "../../filter/projection.ts";
import { DeclaredField, type Feature } from "../../pipeline/feature.ts";
import type { OptionPlace, OptionReader } from "../../pipeline/option_reader.ts";
import { checkGuards, referredTarget, SAY_AT_FIELD } from "../../pipeline/references.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import {
  type FieldShape,
  referenceIn,
  type Shape,
  shapeForAll,
} from "../../schema/fields/shape.ts";
import { whyUnseen } from "../../schema/fields/visibility.ts";
import {
  type AskedPopulation,
  makePopulation,
  type PopulateConfig,
  type PopulatedField,
} from "./make_population.ts";

interface DeclaredReference {
  readonly field: DeclaredField;
  readonly select: readonly DeclaredField[] | undefined;
  readonly always: boolean;
}

interface PopulateTypes {
  readonly declared: readonly DeclaredReference[];
  readonly config: PopulateConfig;
  readonly params: AskedPopulation;
  readonly captured: undefined;
}

export const populate: Feature<PopulateTypes> = {
  name: "populate",
  operations: ["all", "one"],
  requirements: [{ needs: "query" }],
  parameters: { populate: "list" },
  check(option, place) {
    if (!isJsonObject(option.value)) throw option.fail(`needs an object as "populate"`);
    const entries = Object.entries(option.value).filter(([, options]) => options !== undefined);
    const references = option.parts(...Object.keys(option.value));
    return forAll(
      entries,
      ([name]) => checkReference(name, references[name] as OptionReader, place),
    );
  },
  narrow(declared, reader) {
    const config = declared.flatMap(({ field, select, always }) =>
      field.visibleTo(reader).map((name) => {
        const shape = reader.fields.get(name) as FieldShape;
        return [name, narrowReference({ field: shape, select, always })] as const;
      })
    );
    return config.length === 0 ? undefined : new Map(config);
  },
  describe: (config) => ({
    parameters: {
      populate: {
        text: "The references to replace with their entities.",
        fields: [...config.keys()],
      },
    },
    answer: { filled: config },
  }),
  parse(config, given) {
    const asked = new Set(given.names("populate", [...config.keys()]));
    const shown = [...config].filter(([name, { always }]) => always || asked.has(name));
    return { config: new Map(shown), asked };
  },
  follows: ({ config }) => [...config.values()].flatMap(({ field }) => referenceIn(field) ?? []),
  async prepare(params, context) {
    return params.config.size === 0 ? {} : { fills: await makePopulation(context, params) };
  },
};

function narrowReference(
  { field, select: declared, always }: {
    readonly field: FieldShape;
    readonly select: readonly DeclaredField[] | undefined;
    readonly always: boolean;
  },
): PopulatedField {
  if (declared === undefined) return { field, always, projection: {} };
  const target: Shape | undefined = referenceIn(field)?.populated;
  const select = declared.flatMap((each) => each.visibleTo(target));
  return { field, always, select, projection: projectionOf(select) };
}

function checkReference(
  name: string,
  option: OptionReader,
  { shape, passed, skipsGuard, fail }: OptionPlace,
): DeclaredReference {
  const field = shape.fields.get(name);
  const reference = field && referenceIn(field);
  const problem = whyUnseen(field) ?? (reference === undefined ? "is no reference" : undefined);
  if (reference === undefined || problem !== undefined) {
    throw fail(`has "${name}" in "populate", which ${problem}`);
  }
  if (isJsonObject(option.value) && "unguarded" in option.value) {
    throw fail(`has "populate.${name}.unguarded", ${SAY_AT_FIELD}`);
  }
  const { select, always } = option.parts("select", "always");
  const isAlways = always.flag();
  const names = select.value === undefined ? undefined : select.list("names");
  const referred = referredTarget(reference);
  if (referred === undefined && reference.type?.options.identifierOnly === true) {
    throw fail(`has "${name}" in "populate", which refers to a model that is not adopted`);
  }
  if (referred !== undefined) {
    const { fields } = shapeForAll(buildSchema(referred).schema);
    const unseen = names?.find((each) => whyUnseen(fields.get(each)) !== undefined);
    if (unseen !== undefined) {
      const reason = whyUnseen(fields.get(unseen));
      throw fail(
        `has "${unseen}" of "${referred.name}" in "populate.${name}.select", which ${reason}`,
      );
    }
    bindingRests(referred);
    checkGuards(reference, {
      target: referred,
      passed,
      skipsGuard,
      fail: (text) => fail(`has "${name}" in "populate", ${text}`),
    });
  }
  return {
    field: new DeclaredField(name),
    select: names?.map((each) => new DeclaredField(each)),
    always: isAlways,
  };
}
