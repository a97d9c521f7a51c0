import {
  openWireProxy,
  type WireDocument,
  type WireMessage,
  type WireProxy,
} from "./wire_proxy.ts";

export interface NullsOfNine extends WireProxy {
  /** The command and the path of each changed condition. */
  readonly changed: string[];
}

/** They match `null` if their operand is `null`. */
const MATCHING = ["$eq", "$gte", "$lte"];

/** Fields of commands with a filter. */
const FILTERS = ["filter", "query", "q"];

/** Stages with pipelines, by the field with the pipeline. */
const INNER = ["$lookup", "$unionWith"];

/**
 * Makes an older server find what MongoDB 9 would find. "Starting in MongoDB 9.0, a dotted path that does not resolve
 * to a non-null value evaluates as null. The new behavior applies when a field in the path holds an empty array, an
 * array of scalar values, or an array that contains a nested array" (release-notes/9.0-compatibility). In earlier
 * versions, only `{ $exists: false }` matches such a path.
 */
export function openNullsOfNine(to: string): NullsOfNine {
  const changed: string[] = [];
  const proxy = openWireProxy(to, () => ({
    request({ document, lists }: WireMessage) {
      const [command = ""] = Object.keys(document);
      const before = changed.length;
      const rewriter = new Rewriter((path) => changed.push(`${command} ${path}`));
      const rewritten = {
        document: rewriter.command(document),
        lists: Object.fromEntries(
          Object.entries(lists).map((
            [name, list],
          ) => [name, list.map((each) => rewriter.command(each))]),
        ),
      };
      return changed.length > before ? rewritten : undefined;
    },
  }));
  return Object.assign(proxy, { changed });
}

class Rewriter {
  readonly #note: (path: string) => void;

  constructor(note: (path: string) => void) {
    this.#note = note;
  }

  /** Of a command, or of one of its updates or removals. */
  command(document: WireDocument): WireDocument {
    const entries = Object.entries(document).map(([name, value]) => {
      if (FILTERS.includes(name) && isDocument(value)) return [name, this.filter(value)];
      if (name === "pipeline") return [name, this.#pipeline(value as WireDocument[])];
      if (name !== "updates" && name !== "deletes") return [name, value];
      return [name, (value as WireDocument[]).map((each) => this.command(each))];
    });
    return Object.fromEntries(entries);
  }

  #pipeline(stages: readonly WireDocument[]): WireDocument[] {
    return stages.map((stage) =>
      Object.fromEntries(
        Object.entries(stage).map(([name, value]) => {
          if (name === "$match") return [name, this.filter(value as WireDocument)];
          if (name === "$facet") {
            const facets = Object.entries(value as Record<string, WireDocument[]>);
            return [name, Object.fromEntries(facets.map(([k, v]) => [k, this.#pipeline(v)]))];
          }
          const { pipeline } = Object(value) as { pipeline?: WireDocument[] };
          if (!INNER.includes(name) || pipeline === undefined) return [name, value];
          return [name, { ...value as WireDocument, pipeline: this.#pipeline(pipeline) }];
        }),
      )
    );
  }

  filter(filter: WireDocument): WireDocument {
    const clauses = Object.entries(filter).map(([name, value]): WireDocument => {
      if (["$and", "$or", "$nor"].includes(name)) {
        return { [name]: (value as WireDocument[]).map((each) => this.filter(each)) };
      }
      return name.startsWith("$") ? { [name]: value } : this.#condition(name, value);
    });
    // Operators like `$text` must stand at the top.
    if (clauses.every((clause, index) => sameKey(clause, Object.keys(filter)[index]))) {
      return Object.assign({}, ...clauses);
    }
    return { $and: clauses };
  }

  #condition(path: string, value: unknown): WireDocument {
    if (!isOperators(value)) return this.#operator(path, ["$eq", value], value);
    const kept: WireDocument = {};
    const clauses: WireDocument[] = [];
    for (const [operator, operand] of Object.entries(value)) {
      const clause = this.#operator(path, [operator, operand], { [operator]: operand });
      if (sameKey(clause, path)) Object.assign(kept, clause[path]);
      else clauses.push(clause);
    }
    if (clauses.length === 0) return { [path]: kept };
    return { $and: [...Object.keys(kept).length > 0 ? [{ [path]: kept }] : [], ...clauses] };
  }

  /** `as` is the original condition. */
  #operator(
    path: string,
    [operator, operand]: readonly [string, unknown],
    as: unknown,
  ): WireDocument {
    const same = { [path]: as };
    if (operator === "$not" && isOperators(operand)) {
      const inner = this.#condition(path, operand);
      return sameKey(inner, path) ? same : { $nor: [inner] };
    }
    if (operator === "$elemMatch" && isDocument(operand) && !isOperators(operand)) {
      return { [path]: { $elemMatch: this.filter(operand) } };
    }
    if (!path.includes(".")) return same;
    const isNull = operand === null;
    const hasNull = Array.isArray(operand) && operand.includes(null);
    const isMatching = isNull && MATCHING.includes(operator) || hasNull && operator === "$in";
    const isNegated = isNull && operator === "$ne" || hasNull && operator === "$nin";
    if (!isMatching && !isNegated) return same;
    this.#note(`${path} ${operator}`);
    return isMatching
      ? { $or: [same, { [path]: { $exists: false } }] }
      : { $and: [same, { [path]: { $exists: true } }] };
  }
}

function isDocument(value: unknown): value is WireDocument {
  return typeof value === "object" && value !== null && !Array.isArray(value) &&
    !("_bsontype" in value) && !(value instanceof Date);
}

function isOperators(value: unknown): value is WireDocument {
  return isDocument(value) && Object.keys(value).some((name) => /^\$(?!and$|or$|nor$)/.test(name));
}

function sameKey(clause: WireDocument, name: string | undefined): boolean {
  const names = Object.keys(clause);
  return names.length === 1 && names[0] === name;
}
