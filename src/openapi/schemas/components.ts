import type { ObjectNode, View } from "../../schema/describe/object_node.ts";
import { describeObject } from "./object_schema.ts";

/** A schema of JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const SUFFIXES: Readonly<Record<View, string>> = { answer: "", new: "New", patch: "Patch" };

/** The schemas that a document names. */
export class Components {
  readonly #names = new Map<ObjectNode, string>();
  readonly #schemas = new Map<string, JsonSchema>();

  /** Refers to the schema of an object, which gets a name when it is first referred to. */
  refer(node: ObjectNode): JsonSchema {
    return { $ref: `#/components/schemas/${this.#names.get(node) ?? this.#add(node)}` };
  }

  /** Gives all schemas by name. */
  schemas(): Record<string, JsonSchema> {
    return Object.fromEntries(this.#schemas);
  }

  #add(node: ObjectNode): string {
    const name = this.#free(`${safeName(node.model ?? "Object")}${SUFFIXES[node.view]}`);
    this.#names.set(node, name);
    // The name is taken before the fields are described, which may refer to it.
    this.#schemas.set(name, {});
    this.#schemas.set(name, describeObject(node, this));
    return name;
  }

  /** Classes may share a name: the first one has it, the others are numbered. */
  #free(name: string): string {
    let free = name;
    for (let count = 2; this.#schemas.has(free); count++) free = `${name}${count}`;
    return free;
  }
}

/** Names of components hold ASCII letters, digits, `.`, `-` and `_` only. */
function safeName(name: string): string {
  return name.replaceAll(/[^\w.-]/g, "_") || "Object";
}
