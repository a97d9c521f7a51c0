import type { ErrorCode } from "../errors/refusals.ts";
import type { FieldShape } from "../schema/fields/shape.ts";

/** A JSON Schema for the OpenAPI document, unlike a `Schema` of Mongoose. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * The description of a query parameter. The OpenAPI document, `Framework.describe()` and the tools of assistants are
 * made from it.
 */
export interface ParameterFacts {
  /** The purpose of the parameter, for the OpenAPI document. */
  readonly text: string;
  readonly fields?: readonly string[];
  /**
   * The values that each element of a parameter with a list may have, such as `price` and `-price` of `sort`, for the
   * OpenAPI document. The default is the names in `fields`.
   */
  readonly values?: readonly string[];
  readonly default?: number;
  readonly maximum?: number;
  /**
   * The JSON Schema of a parameter with a single value, or further rules for a parameter with a list, such as the
   * maximum number of elements.
   */
  readonly schema?: Schema;
}

/** The fields and parameters of a class option that the description of a route does not show to a caller. */
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
  /** The media types of the parts of a multipart form, by the names of these parts, for the OpenAPI document. */
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
}

/** The description of bodies and answers that are bytes, such as files, and no JSON, for the OpenAPI document. */
export interface BytesFacts {
  /** The media types of the body. Missing if a request has no such body. */
  readonly body?: Readonly<Record<string, MediaFacts>>;
  readonly maxBytes?: number;
  /**
   * The media types of an answer with bytes, such as a file, each with its schema. Missing if the answer is JSON or
   * empty.
   */
  readonly answer?: Readonly<Record<string, Schema>>;
  /** The statuses of further answers, such as 206 for a range of a file, each with a text about its purpose. */
  readonly statuses?: Readonly<Record<number, string>>;
  readonly headers: Readonly<Record<string, HeaderFacts>>;
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>>;
  /** The codes of further errors of requests with bytes, such as `PAYLOAD_TOO_LARGE`, for the OpenAPI document. */
  readonly errors?: readonly ErrorCode[];
}

export interface AnswerHeader {
  readonly description: string;
  readonly schema: Schema;
}

/**
 * The description of a reference field for which an answer may show the entity in the place of its identifier
 * (population).
 */
export interface FilledFacts {
  readonly field: FieldShape;
  /** The fields of the referenced entity that are shown in addition to `_id`. Without a list, all fields are shown. */
  readonly select?: readonly string[];
  readonly always: boolean;
}

/**
 * The description of a value in an answer that shows no entities, such as a value of a group. `shows` is the name of a
 * field whose value is shown. `computes` is the name of a field from which a number is computed, such as a sum.
 * `schema` is a JSON Schema. `anyOf` is one of several values. `properties` is an object.
 */
export type PropertyFacts =
  | { readonly shows: string }
  | { readonly computes: string }
  | { readonly schema: Schema }
  | { readonly anyOf: readonly PropertyFacts[] }
  | { readonly properties: Readonly<Record<string, PropertyFacts>> };

/**
 * The description of a list whose elements are no entities, such as groups. The OpenAPI document describes the answers of
 * a list as either entities or such elements.
 */
export interface AlternativeFacts {
  /**
   * The end of the name that the OpenAPI document gives to the schema of an element, such as `Group` in `MovieGroup`.
   */
  readonly name: string;
  readonly maxItems: number;
  readonly items: PropertyFacts;
}

/** The bodies that a feature accepts in addition to one entity as JSON. */
export interface BodyFacts {
  /** The most entities of a body that is an array of entities. Missing if a body cannot be an array. */
  readonly maxItems?: number;
  /** The media types of a body besides JSON, such as `text/csv`, each with its schema. */
  readonly content?: Readonly<Record<string, Schema>>;
}

/** The headers that a feature adds to answers with one status, such as `Retry-After` to a 409. */
export interface StatusFacts {
  /**
   * A word that the OpenAPI document adds to the name of the answer, such as `UnderWay` in `ConflictOrUnderWay`. An
   * answer with the same status and without the headers has the name without the word, such as `Conflict`.
   */
  readonly name: string;
  readonly headers: Readonly<Record<string, AnswerHeader>>;
}

export interface AnswerFacts {
  readonly headers?: Readonly<Record<string, AnswerHeader>>;
  /** The media types of a list besides JSON, such as `text/csv`, each with its schema. */
  readonly content?: Readonly<Record<string, Schema>>;
  /**
   * Whether an entity in the answer may lack any of its fields, because clients can choose the fields. No field of the
   * schema is then required.
   */
  readonly isPartial?: boolean;
  /** The reference fields for which the answer may show entities in the place of identifiers (population). */
  readonly filled?: ReadonlyMap<string, FilledFacts>;
  readonly alternative?: AlternativeFacts;
  /**
   * The answers with the status 207, which have a separate result for each entity of the body, by their media types.
   * `"list"` stands for a JSON array of results. Any other value is the schema of the answer.
   */
  readonly results?: Readonly<Record<string, Schema | "list">>;
  /** The headers that the feature adds to the answers of errors, such as `Retry-After`, by status. */
  readonly statuses?: Readonly<Record<number, StatusFacts>>;
}

/**
 * The facts that one feature adds to the description of a route, with only the fields that the reader may see. The
 * OpenAPI document, `Framework.describe()` and the tools of assistants are made from these facts, without code for
 * single features.
 */
export interface Description {
  readonly parameters?: Readonly<Record<string, ParameterFacts>>;
  readonly headers?: Readonly<Record<string, HeaderFacts>>;
  /**
   * The preferences that a client can send in the header `Prefer`, each with a text about its purpose. A preference
   * with the value `undefined` is accepted, but has no effect in this operation and is left out of the OpenAPI
   * document.
   */
  readonly preferences?: Readonly<Record<string, string | undefined>>;
  /**
   * The codes of the errors that the feature can answer, such as `CONFLICT`, for the list of errors in the OpenAPI
   * document.
   */
  readonly errors?: readonly ErrorCode[];
  /** The properties that the feature adds to the result of `Framework.describe()`, such as `live`. */
  readonly route?: Readonly<Record<string, unknown>>;
  readonly body?: BodyFacts;
  readonly answer?: AnswerFacts;
}

/** The joined descriptions of all features of an operation, from which the route is described. */
export interface JoinedDescription extends Required<Omit<Description, "answer" | "body">> {
  readonly body: Required<Omit<BodyFacts, "maxItems">> & Pick<BodyFacts, "maxItems">;
  readonly answer: Required<Omit<AnswerFacts, "alternative">> & {
    readonly alternatives: readonly AlternativeFacts[];
  };
}

/**
 * Joins the descriptions of all features of an operation. A parameter of two features, such as `sort` of lists and of
 * groups, gets the fields and the values of both.
 */
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

/**
 * Joins the properties that features add to the description of a route. If two features add the same property, such as
 * `writes`, the objects are merged.
 */
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
