import { DEFAULT_LIMITS, type FilterLimits } from "../../filter/q/limits.ts";
import type { FilterNode } from "./filters/filter_node.ts";
import type { AnswerNode } from "../route_node.ts";
import type { ObjectNode, View } from "../../describe/describe_object.ts";
import { describeEntity, entityDetail, entityName } from "./entity_schema.ts";
import { filterSchema } from "./filters/filter_schema.ts";
import { type JsonSchema, moved, refer } from "./json_schema.ts";
import { objectSchema } from "./object_schema.ts";

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
  readonly detail?: string;
  readonly describe: (name: string) => JsonSchema;
}

export class Components {
  readonly #names = new Map<unknown, Map<string, string>>();
  readonly #schemas = new Map<string, JsonSchema>();
  readonly #responses = new Map<string, string>();

  constructor(readonly limits: FilterLimits = DEFAULT_LIMITS, readonly isStrict = false) {}

  object(node: ObjectNode): JsonSchema {
    const name = `${node.model ?? "Object"}${SUFFIXES[node.view]}`;
    return this.add(node, { name, describe: () => objectSchema(node, this) });
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
    return this.add(node, { name, describe: () => filterSchema(node, this) });
  }

  given(schema: JsonSchema, name: string): JsonSchema {
    const text = JSON.stringify(schema);
    return this.add(`${name} ${text}`, { name, describe: (own) => moved(text, own) });
  }

  /** Calls with the same key and `detail` share one component. */
  add(key: unknown, { name, detail = "", describe }: Named): JsonSchema {
    const names = this.#names.get(key) ?? new Map<string, string>();
    this.#names.set(key, names);
    const known = names.get(detail);
    if (known !== undefined) return refer(known);
    const free = this.#free(name.replaceAll(/[^\w.-]/g, "_"));
    names.set(detail, free);
    // A schema may refer to itself, so its name is reserved first.
    this.#schemas.set(free, {});
    this.#schemas.set(free, describe(free));
    return refer(free);
  }

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

  /** Several classes may share a name. */
  #free(name: string): string {
    let free = name;
    for (let count = 2; this.#schemas.has(free); count++) free = `${name}${count}`;
    return free;
  }
}
