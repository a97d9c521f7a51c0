import { DEFAULT_LIMITS, type FilterLimits } from "../../filter/q/limits.ts";
import type { FilterNode } from "./filters/filter_node.ts";
import type { AnswerNode } from "../route_node.ts";
import type { ObjectNode, View } from "../../describe/describe_object.ts";
import { describeEntity, entityDetail, entityName } from "./entity_schema.ts";
import { describeFilter } from "./filters/filter_schema.ts";
import { type JsonSchema, moved, refer } from "./json_schema.ts";
import { describeObject } from "./object_schema.ts";

const SUFFIXES: Readonly<Record<View, string>> = {
  answer: "",
  result: "Result",
  new: "New",
  replacement: "Replacement",
  patch: "Patch",
  changes: "Changes",
  element: "Element",
};

interface Named {
  readonly name: string;
  /**
   * The text that distinguishes several schemas of one class, such as its answers with different populated references.
   * A schema with another text becomes a separate component of the OpenAPI document.
   */
  readonly detail?: string;
  /**
   * Builds the JSON Schema of the component. The argument is the final name of the component, because references inside
   * of the schema must contain this name.
   */
  readonly describe: (name: string) => JsonSchema;
}

export class Components {
  readonly #names = new Map<unknown, Map<string, string>>();
  readonly #schemas = new Map<string, JsonSchema>();
  /**
   * The JSON texts of the responses in the OpenAPI document, by the names of their components. Equal responses are
   * found by their texts.
   */
  readonly #responses = new Map<string, string>();

  /**
   * @param limits The limits on filters. All routes of a router share the limits of `initialize()`.
   * @param isStrict Whether bodies are strict. All routes of a router share this option too.
   */
  constructor(readonly limits: FilterLimits = DEFAULT_LIMITS, readonly isStrict = false) {}

  object(node: ObjectNode): JsonSchema {
    const name = `${node.model ?? "Object"}${SUFFIXES[node.view]}`;
    return this.add(node, { name, describe: () => describeObject(node, this) });
  }

  entity(node: AnswerNode): JsonSchema {
    const suffix = entityName(node);
    if (suffix === "") return this.object(node.object);
    const name = `${node.object.model ?? "Object"}${suffix}`;
    const describe = () => describeEntity(node, this);
    return this.add(node.object, { name, detail: entityDetail(node), describe });
  }

  filter(node: FilterNode): JsonSchema {
    const name = `${node.model ?? "Object"}Filter`;
    return this.add(node, { name, describe: () => describeFilter(node, this) });
  }

  /**
   * Returns a reference to a schema that comes from a validation library. Equal schemas with the same name share one
   * component.
   */
  given(schema: JsonSchema, name: string): JsonSchema {
    const text = JSON.stringify(schema);
    return this.add(`${name} ${text}`, { name, describe: (own) => moved(text, own) });
  }

  /**
   * Returns a reference to a component of the OpenAPI document. `describe` builds the schema of the component at the
   * first call. Further calls with the same key, such as a class, share the component unless they have another
   * `detail`.
   */
  add(key: unknown, { name, detail = "", describe }: Named): JsonSchema {
    const names = this.#names.get(key) ?? new Map<string, string>();
    this.#names.set(key, names);
    const known = names.get(detail);
    if (known !== undefined) return refer(known);
    const free = this.#free(name.replaceAll(/[^\w.-]/g, "_"));
    names.set(detail, free);
    // The name of the component must be reserved before its schema is built, because the schema may refer to itself.
    this.#schemas.set(free, {});
    this.#schemas.set(free, describe(free));
    return refer(free);
  }

  /**
   * Returns a reference to a response in the components of the OpenAPI document. Equal responses with the same name
   * share one component. A number follows the name of each further response that has other examples.
   */
  response(name: string, response: object): object {
    const text = JSON.stringify(response);
    let free = name;
    for (let count = 2; (this.#responses.get(free) ?? text) !== text; count++) {
      free = `${name}${count}`;
    }
    this.#responses.set(free, text);
    return { $ref: `#/components/responses/${free}` };
  }

  toJSON(): object {
    return {
      schemas: Object.fromEntries(this.#schemas),
      responses: Object.fromEntries(
        [...this.#responses].map(([name, text]) => [name, JSON.parse(text) as object]),
      ),
    };
  }

  /** Returns a free name for a component. If classes share a name, a number follows the name of each further class. */
  #free(name: string): string {
    let free = name;
    for (let count = 2; this.#schemas.has(free); count++) free = `${name}${count}`;
    return free;
  }
}
