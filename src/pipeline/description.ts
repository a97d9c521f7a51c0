import type { ErrorCode } from "../errors/refusals.ts";
import type { FieldShape } from "../schema/fields/shape.ts";

/** A JSON Schema, unlike a `Schema` of Mongoose. */
export type Schema = Readonly<Record<string, unknown>>;

export interface ParameterFacts {
  readonly text: string;
  /** The operation that plugins see for a request with the parameter, such as `trash`. */
  readonly word?: string;
  readonly fields?: readonly string[];
  /** The values that the elements of a list can have. The default is `fields`. */
  readonly values?: readonly string[];
  readonly default?: number;
  readonly maximum?: number;
  readonly schema?: Schema;
}

export interface Withheld {
  readonly fields: readonly string[];
  readonly parameters: readonly string[];
}

export interface HeaderFacts {
  readonly text: string;
  readonly required: boolean;
  readonly schema: Schema;
}

export interface MediaFacts {
  readonly schema: Schema;
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
}

export interface BytesFacts {
  readonly body?: Readonly<Record<string, MediaFacts>>;
  readonly maxBytes?: number;
  readonly answer?: Readonly<Record<string, Schema>>;
  readonly statuses?: Readonly<Record<number, string>>;
  readonly headers: Readonly<Record<string, HeaderFacts>>;
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>>;
  readonly errors?: readonly ErrorCode[];
}

export interface AnswerHeader {
  readonly description: string;
  readonly schema: Schema;
}

/** A reference that an answer shows as its entity. */
export interface FilledFacts {
  readonly field: FieldShape;
  readonly select?: readonly string[];
  readonly always: boolean;
}

export type PropertyFacts =
  | { readonly shows: string }
  | { readonly computes: string }
  | { readonly schema: Schema }
  | { readonly anyOf: readonly PropertyFacts[] }
  | { readonly properties: Readonly<Record<string, PropertyFacts>> };

export interface AlternativeFacts {
  readonly name: string;
  readonly maxItems: number;
  readonly items: PropertyFacts;
}

export interface BodyFacts {
  readonly maxItems?: number;
  readonly content?: Readonly<Record<string, Schema>>;
}

export interface StatusFacts {
  /** Names this response in the OpenAPI document, which also has the usual one without these headers. */
  readonly name: string;
  readonly headers: Readonly<Record<string, AnswerHeader>>;
}

export interface AnswerFacts {
  readonly headers?: Readonly<Record<string, AnswerHeader>>;
  readonly content?: Readonly<Record<string, Schema>>;
  /** Clients can choose the fields, so no field is required. */
  readonly isPartial?: boolean;
  readonly filled?: ReadonlyMap<string, FilledFacts>;
  readonly alternative?: AlternativeFacts;
  /** The results in a 207, by media type. */
  readonly results?: Readonly<Record<string, Schema | "list">>;
  readonly statuses?: Readonly<Record<number, StatusFacts>>;
}

/** Fields that the reader may not see are left out. */
export interface Description {
  readonly parameters?: Readonly<Record<string, ParameterFacts>>;
  readonly headers?: Readonly<Record<string, HeaderFacts>>;
  /** A preference with `undefined` is accepted without effect, and not documented. */
  readonly preferences?: Readonly<Record<string, string | undefined>>;
  readonly errors?: readonly ErrorCode[];
  readonly route?: Readonly<Record<string, unknown>>;
  readonly body?: BodyFacts;
  readonly answer?: AnswerFacts;
}

export interface MergedDescription extends Required<Omit<Description, "answer" | "body">> {
  readonly body: Required<Omit<BodyFacts, "maxItems">> & Pick<BodyFacts, "maxItems">;
  readonly answer: Required<Omit<AnswerFacts, "alternative">> & {
    readonly alternatives: readonly AlternativeFacts[];
  };
}

export function mergeDescriptions(all: readonly Description[]): MergedDescription {
  const parameters: Record<string, ParameterFacts> = {};
  for (const [name, facts] of all.flatMap((each) => Object.entries(each.parameters ?? {}))) {
    parameters[name] = mergeParameters(parameters[name], facts);
  }
  const answers = all.flatMap(({ answer }) => answer ?? []);
  const bodies = all.flatMap(({ body }) => body ?? []);
  const maxItems = bodies.find((each) => each.maxItems !== undefined)?.maxItems;
  return {
    parameters,
    headers: merged(all.map(({ headers }) => headers)),
    preferences: merged(all.map(({ preferences }) => preferences)),
    errors: all.flatMap(({ errors = [] }) => errors),
    route: mergeRoutes(all.map(({ route = {} }) => route)),
    body: {
      content: merged(bodies.map(({ content }) => content)),
      ...maxItems !== undefined && { maxItems },
    },
    answer: {
      headers: merged(answers.map(({ headers }) => headers)),
      content: merged(answers.map(({ content }) => content)),
      isPartial: answers.some(({ isPartial }) => isPartial),
      filled: new Map(answers.flatMap(({ filled }) => [...filled ?? []])),
      alternatives: answers.flatMap(({ alternative }) => alternative ?? []),
      results: merged(answers.map(({ results }) => results)),
      statuses: merged(answers.map(({ statuses }) => statuses)),
    },
  };
}

function merged<V>(all: readonly (Readonly<Record<string, V>> | undefined)[]): Record<string, V> {
  return Object.assign({}, ...all);
}

function mergeRoutes(all: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  const route: Record<string, unknown> = {};
  for (const [name, value] of all.flatMap((each) => Object.entries(each))) {
    const known = route[name];
    route[name] = known === undefined || Array.isArray(value)
      ? value
      : Object.assign({}, known, value);
  }
  return route;
}

function mergeParameters(known: ParameterFacts | undefined, more: ParameterFacts): ParameterFacts {
  if (known === undefined) return more;
  const unite = (name: "fields" | "values") =>
    (known[name] ?? more[name]) &&
    [...new Set([...known[name] ?? known.fields ?? [], ...more[name] ?? more.fields ?? []])];
  const [fields, values] = [unite("fields"), unite("values")];
  return { ...more, ...known, ...fields && { fields }, ...values && { values } };
}
