import type { ErrorCode } from "../errors/refusals.ts";
import type { FieldShape } from "../schema/fields/shape.ts";

/** JSON Schema, as the OpenAPI document contains it. */
export type Schema = Readonly<Record<string, unknown>>;

/** The description of a query parameter, from which `describe()`, OpenAPI and tools of assistants are made. */
export interface ParameterFacts {
  /** The purpose of the parameter, for the OpenAPI document. */
  readonly text: string;
  /** The names of fields that the parameter takes. */
  readonly fields?: readonly string[];
  /** The values that each element of a list may have. The default is the names in `fields`. */
  readonly values?: readonly string[];
  readonly default?: number;
  readonly maximum?: number;
  /** The schema of a single value, or further rules for a list. */
  readonly schema?: Schema;
}

export interface HeaderFacts {
  readonly text: string;
  readonly required: boolean;
  readonly schema: Schema;
}

/** The schema of a header in an answer. */
export interface AnswerHeader {
  readonly description: string;
  readonly schema: Schema;
}

/** An entity that an answer shows in the place of its identifier. */
export interface FilledFacts {
  readonly field: FieldShape;
  /** The fields that are shown in addition to `_id`. Without a list, all fields are shown. */
  readonly select?: readonly string[];
  readonly always: boolean;
}

/**
 * A value that an answer has in the place of entities, or a property of such a value. The value is the value of a field,
 * a number that is computed of a field, a value with a schema, one of several values, or an object.
 */
export type PropertyFacts =
  | { readonly shows: string }
  | { readonly computes: string }
  | { readonly schema: Schema }
  | { readonly anyOf: readonly PropertyFacts[] }
  | { readonly properties: Readonly<Record<string, PropertyFacts>> };

/** A list that a request can get in the place of entities. */
export interface AlternativeFacts {
  /** The end of the name of the schema, such as `Group`. */
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

/** An addition of a feature to the answers with one status. */
export interface StatusFacts {
  /** The word that the addition appends to the name of the answer, such as `UnderWay`. */
  readonly name: string;
  readonly headers: Readonly<Record<string, AnswerHeader>>;
}

export interface AnswerFacts {
  readonly headers?: Readonly<Record<string, AnswerHeader>>;
  /** The media types of a list besides JSON, each with its schema. */
  readonly content?: Readonly<Record<string, Schema>>;
  /** Whether an answer may lack any field of the entity, because the client has chosen the fields. */
  readonly isPartial?: boolean;
  /** The reference fields whose identifiers may be replaced by entities. */
  readonly filled?: ReadonlyMap<string, FilledFacts>;
  readonly alternative?: AlternativeFacts;
  /**
   * The media types of an answer with a result for each entity of the body (207). `"list"` stands for a JSON array of
   * results. Any other value is the schema of the answer.
   */
  readonly results?: Readonly<Record<string, Schema | "list">>;
  /** The additions to answers with the status of an error. */
  readonly statuses?: Readonly<Record<number, StatusFacts>>;
}

/**
 * The description of a feature for one kind of reader. The code that describes routes knows only this form and no
 * feature.
 */
export interface Description {
  readonly parameters?: Readonly<Record<string, ParameterFacts>>;
  readonly headers?: Readonly<Record<string, HeaderFacts>>;
  /**
   * The preferences that the header `Prefer` takes, each with its purpose. A preference without a purpose has no effect
   * here and is not shown.
   */
  readonly preferences?: Readonly<Record<string, string | undefined>>;
  /** The codes of the errors that the feature answers. */
  readonly errors?: readonly ErrorCode[];
  /** The part of the description of the route that belongs to the feature. */
  readonly route?: Readonly<Record<string, unknown>>;
  readonly body?: BodyFacts;
  readonly answer?: AnswerFacts;
}

/** The description of all features of an operation together. */
export interface JoinedDescription extends Required<Omit<Description, "answer" | "body">> {
  readonly body: Required<Omit<BodyFacts, "maxItems">> & Pick<BodyFacts, "maxItems">;
  readonly answer: Required<Omit<AnswerFacts, "alternative">> & {
    readonly alternatives: readonly AlternativeFacts[];
  };
}

/** Joins the descriptions of features. Parameters that two features share get the fields and the values of both. */
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

/** Joins the parts of the description of a route. Two features may describe the same part, such as `writes`. */
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
