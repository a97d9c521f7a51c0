import type { ErrorCode } from "../errors/refusals.ts";
import type { FieldShape } from "../schema/fields/shape.ts";

/** JSON Schema, as the OpenAPI document contains it. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * The description of a query parameter. The OpenAPI document, `Framework.describe()` and the tools of assistants are
 * made from it.
 */
export interface ParameterFacts {
  /** The purpose of the parameter, for the OpenAPI document. */
  readonly text: string;
  /** The names of fields that the parameter takes. */
  readonly fields?: readonly string[];
  /**
   * The values that each element of a parameter with a list may have, such as `price` and `-price` of `sort`. The
   * default is the names in `fields`.
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

export interface HeaderFacts {
  readonly text: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** The description of a body with one media type. */
export interface MediaFacts {
  readonly schema: Schema;
  /** The media types that the parts of a form may have, by the names of the parts. */
  readonly encoding?: Readonly<Record<string, { readonly contentType: string }>>;
}

/** The description of bodies and answers that are bytes, such as files, and no JSON. */
export interface BytesFacts {
  /** The media types of the body. Missing if a request has no such body. */
  readonly body?: Readonly<Record<string, MediaFacts>>;
  /** The maximum number of bytes of the body. */
  readonly maxBytes?: number;
  /** The media types of the answer, each with its schema. Missing if the answer is JSON or empty. */
  readonly answer?: Readonly<Record<string, Schema>>;
  /** The statuses of further answers, each with a text about its purpose. */
  readonly statuses?: Readonly<Record<number, string>>;
  /** The headers that requests can have, by their names. */
  readonly headers: Readonly<Record<string, HeaderFacts>>;
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>>;
  /** The codes of further errors. */
  readonly errors?: readonly ErrorCode[];
}

/** The schema of a header in an answer. */
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
  /** The fields that are shown in addition to `_id`. Without a list, all fields are shown. */
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

/** The description of a list that an answer has in the place of entities, such as groups. */
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
  /** The media types of a body besides JSON, each with its schema. */
  readonly content?: Readonly<Record<string, Schema>>;
}

/** The headers that a feature adds to answers with one status, such as `Retry-After` to a 409. */
export interface StatusFacts {
  /**
   * A word for the name of the answer in the OpenAPI document, such as `UnderWay`. The usual answer with the status
   * lacks the headers, so it has another name.
   */
  readonly name: string;
  readonly headers: Readonly<Record<string, AnswerHeader>>;
}

export interface AnswerFacts {
  readonly headers?: Readonly<Record<string, AnswerHeader>>;
  /** The media types of a list besides JSON, each with its schema. */
  readonly content?: Readonly<Record<string, Schema>>;
  /**
   * Whether an entity in the answer may lack any of its fields, because clients can choose the fields. No field of the
   * schema is then required.
   */
  readonly isPartial?: boolean;
  /** The reference fields whose identifiers may be replaced by entities. */
  readonly filled?: ReadonlyMap<string, FilledFacts>;
  readonly alternative?: AlternativeFacts;
  /**
   * The answers with the status 207, which have a separate result for each entity of the body, by their media types.
   * `"list"` stands for a JSON array of results. Any other value is the schema of the answer.
   */
  readonly results?: Readonly<Record<string, Schema | "list">>;
  /** The headers that the feature adds to the answers of errors, by status. */
  readonly statuses?: Readonly<Record<number, StatusFacts>>;
}

/**
 * The parts of the description of a route that one feature adds, with only the fields that one kind of reader may see.
 * The code that describes routes reads this form and needs no code for single features.
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
  /** The codes of the errors that the feature can answer, such as `CONFLICT`. */
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
