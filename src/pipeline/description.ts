import type { ErrorCode } from "../errors/refusals.ts";
import type { FieldShape } from "../schema/fields/shape.ts";

/** A JSON Schema, unlike a `Schema` of Mongoose. */
export type Schema = Readonly<Record<string, unknown>>;

export interface ParameterFacts {
  /** The purpose of the parameter. */
  readonly text: string;
  readonly fields?: readonly string[];
  /** The values that each element of a parameter with a list may have. The default is the names in `fields`. */
  readonly values?: readonly string[];
  readonly default?: number;
  readonly maximum?: number;
  /** The schema of a parameter with a single value, or further rules for a parameter with a list. */
  readonly schema?: Schema;
}

export interface Withheld {
  readonly fields?: readonly string[];
  readonly parameters?: readonly string[];
}

export interface HeaderFacts {
  readonly text: string;
  readonly required: boolean;
  readonly schema: Schema;
}

export interface MediaFacts {
  readonly schema: Schema;
  /** The media types of the parts of a multipart form, by the names of the parts. */
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
}

/** Bodies and answers that are bytes and no JSON. */
export interface BytesFacts {
  /** By media type. Missing if a request has no such body. */
  readonly body?: Readonly<Record<string, MediaFacts>>;
  readonly maxBytes?: number;
  /** By media type. Missing if the answer is JSON or empty. */
  readonly answer?: Readonly<Record<string, Schema>>;
  /** The statuses of further answers, each with a text about its purpose. */
  readonly statuses?: Readonly<Record<number, string>>;
  readonly headers: Readonly<Record<string, HeaderFacts>>;
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>>;
  /** The codes of further errors of requests with bytes. */
  readonly errors?: readonly ErrorCode[];
}

export interface AnswerHeader {
  readonly description: string;
  readonly schema: Schema;
}

/** A reference field for which an answer may show the entity in the place of its identifier. */
export interface FilledFacts {
  readonly field: FieldShape;
  /** The fields shown in addition to `_id`. Without a list, all fields are shown. */
  readonly select?: readonly string[];
  readonly always: boolean;
}

/** `shows` names a field whose value is shown. `computes` names a field from which a number is computed. */
export type PropertyFacts =
  | { readonly shows: string }
  | { readonly computes: string }
  | { readonly schema: Schema }
  | { readonly anyOf: readonly PropertyFacts[] }
  | { readonly properties: Readonly<Record<string, PropertyFacts>> };

/** A list whose elements are no entities. The answers of a route are described as either entities or such elements. */
export interface AlternativeFacts {
  /** The end of the name that the OpenAPI document gives to the schema of an element. */
  readonly name: string;
  readonly maxItems: number;
  readonly items: PropertyFacts;
}

/** The bodies that a feature accepts in addition to one entity as JSON. */
export interface BodyFacts {
  /** Missing if a body cannot be an array. */
  readonly maxItems?: number;
  /** The media types of a body besides JSON, each with its schema. */
  readonly content?: Readonly<Record<string, Schema>>;
}

export interface StatusFacts {
  /**
   * A word that the OpenAPI document adds to the name of the answer. An answer with the same status and without the
   * headers has the name without the word.
   */
  readonly name: string;
  readonly headers: Readonly<Record<string, AnswerHeader>>;
}

export interface AnswerFacts {
  readonly headers?: Readonly<Record<string, AnswerHeader>>;
  /** The media types of a list besides JSON, each with its schema. */
  readonly content?: Readonly<Record<string, Schema>>;
  /** Whether clients can choose the fields, so that no field of the schema is required. */
  readonly isPartial?: boolean;
  /** The reference fields for which the answer may show entities in the place of identifiers. */
  readonly filled?: ReadonlyMap<string, FilledFacts>;
  readonly alternative?: AlternativeFacts;
  /**
   * The answers with the status 207, by media type. `"list"` stands for a JSON array of results, any other value is the
   * schema of the answer.
   */
  readonly results?: Readonly<Record<string, Schema | "list">>;
  /** By status. */
  readonly statuses?: Readonly<Record<number, StatusFacts>>;
}

/** The facts that one feature adds to the description of a route, with only the fields that the reader may see. */
export interface Description {
  readonly parameters?: Readonly<Record<string, ParameterFacts>>;
  readonly headers?: Readonly<Record<string, HeaderFacts>>;
  /**
   * The preferences of the header `Prefer`, each with a text about its purpose. A preference with `undefined` is
   * accepted without effect and left out of the OpenAPI document.
   */
  readonly preferences?: Readonly<Record<string, string | undefined>>;
  readonly errors?: readonly ErrorCode[];
  /** Properties of the result of `Framework.describe()`. */
  readonly route?: Readonly<Record<string, unknown>>;
  readonly body?: BodyFacts;
  readonly answer?: AnswerFacts;
}

export interface JoinedDescription extends Required<Omit<Description, "answer" | "body">> {
  readonly body: Required<Omit<BodyFacts, "maxItems">> & Pick<BodyFacts, "maxItems">;
  readonly answer: Required<Omit<AnswerFacts, "alternative">> & {
    readonly alternatives: readonly AlternativeFacts[];
  };
}

/** A parameter of two features gets the fields and the values of both. */
export function joinDescriptions(all: readonly Description[]): JoinedDescription {
  const parameters: Record<string, ParameterFacts> = {};
  for (const [name, facts] of all.flatMap((each) => Object.entries(each.parameters ?? {}))) {
    parameters[name] = joinParameters(parameters[name], facts);
  }
  const answers = all.flatMap(({ answer }) => answer ?? []);
  const bodies = all.flatMap(({ body }) => body ?? []);
  const maxItems = bodies.find((each) => each.maxItems !== undefined)?.maxItems;
  return {
    parameters,
    headers: joined(all.map(({ headers }) => headers)),
    preferences: joined(all.map(({ preferences }) => preferences)),
    errors: all.flatMap(({ errors = [] }) => errors),
    route: joinRoutes(all.map(({ route = {} }) => route)),
    body: {
      content: joined(bodies.map(({ content }) => content)),
      ...maxItems !== undefined && { maxItems },
    },
    answer: {
      headers: joined(answers.map(({ headers }) => headers)),
      content: joined(answers.map(({ content }) => content)),
      isPartial: answers.some(({ isPartial }) => isPartial),
      filled: new Map(answers.flatMap(({ filled }) => [...filled ?? []])),
      alternatives: answers.flatMap(({ alternative }) => alternative ?? []),
      results: joined(answers.map(({ results }) => results)),
      statuses: joined(answers.map(({ statuses }) => statuses)),
    },
  };
}

function joined<V>(all: readonly (Readonly<Record<string, V>> | undefined)[]): Record<string, V> {
  return Object.assign({}, ...all);
}

function joinRoutes(all: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  const route: Record<string, unknown> = {};
  for (const [name, value] of all.flatMap((each) => Object.entries(each))) {
    const known = route[name];
    route[name] = known === undefined || Array.isArray(value)
      ? value
      : Object.assign({}, known, value);
  }
  return route;
}

function joinParameters(known: ParameterFacts | undefined, more: ParameterFacts): ParameterFacts {
  if (known === undefined) return more;
  const unite = (name: "fields" | "values") =>
    (known[name] ?? more[name]) &&
    [...new Set([...known[name] ?? known.fields ?? [], ...more[name] ?? more.fields ?? []])];
  const [fields, values] = [unite("fields"), unite("values")];
  return { ...more, ...known, ...fields && { fields }, ...values && { values } };
}
