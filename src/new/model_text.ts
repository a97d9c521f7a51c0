import type { Field, ValueType } from "./infer.ts";
import type { DeclaredIndex } from "./read_indexes.ts";
import { className, type ModelNames, Names, partName, USED } from "./names.ts";

export interface FoundModel extends ModelNames {
  readonly collection: string;
  readonly operations: readonly string[];
  readonly id: string;
  readonly fields: readonly Field[];
  readonly timestamps: boolean;
  readonly indexes: readonly DeclaredIndex[];
}

export interface WriteModelOptions {
  readonly plain: boolean;
  readonly models: ReadonlyMap<string, ModelNames>;
  collectionOf(name: string): string | undefined;
}

const WIDTH = 100;

export function modelText(model: FoundModel, options: WriteModelOptions): string {
  const writer = new ModelWriter(model, options);
  const classes = writer.write();
  return `${writer.imports()}\n${classes.join("\n")}`;
}

interface Class {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly id: string | undefined;
  readonly model?: FoundModel;
}

class ModelWriter {
  readonly #model: FoundModel;
  readonly #options: WriteModelOptions;
  readonly #names: Names;
  readonly #classes: string[] = [];
  readonly #used = new Set<string>();
  readonly #targets = new Map<string, ModelNames>();
  #hasSchema = false;
  #hasMongoose = false;
  #hasBuffer = false;

  constructor(model: FoundModel, options: WriteModelOptions) {
    this.#model = model;
    this.#options = options;
    this.#names = new Names([...USED, ...[...options.models.values()].map(({ name }) => name)]);
  }

  write(): string[] {
    const { name, fields, id, operations, collection } = this.#model;
    for (const each of ["FrameworkModel", ...this.#options.plain ? ["define"] : ["rest"]]) {
      this.#used.add(each);
    }
    for (const operation of operations) this.#used.add(/^\w+/.exec(operation)?.[0] ?? "");
    const text = this.#class({ name, fields, id, model: this.#model });
    const quoted = quote(collection).replaceAll("*/", "* /");
    return [...this.#classes, `/** An entity of the collection ${quoted}. */\n${text}`];
  }

  imports(): string {
    const types = new Set(["Hidden", "Ref"]);
    const names = [...this.#used].sort((a, b) => a.toLowerCase() < b.toLowerCase() ? -1 : 1);
    const used = names.map((name) => types.has(name) ? `type ${name}` : name);
    const line = `import { ${used.join(", ")} } from "@mongrove/mongrove";`;
    const brackets = ["import {", '} from "@mongrove/mongrove";'] as const;
    const lines = [`${line.length > WIDTH ? stack(brackets, used) : line}\n`];
    const schema = this.#hasSchema ? ["type Schema"] : [];
    if (this.#hasMongoose) {
      lines.push(
        `import ${
          ["mongoose", ...schema.map((each) => `{ ${each} }`)].join(", ")
        } from "mongoose";\n`,
      );
    } else if (this.#hasSchema) lines.push('import type { Schema } from "mongoose";\n');
    if (this.#hasBuffer) lines.push('import { Buffer } from "node:buffer";\n');
    for (const { name, file } of this.#targets.values()) {
      lines.push(`import { ${name} } from "./${file}.ts";\n`);
    }
    return lines.join("");
  }

  #class({ name, fields, id, model }: Class): string {
    const { plain } = this.#options;
    const declared = fields.map((field) => this.#field(field, name));
    const members = declared.map(({ property, decorator }) =>
      plain ? property : `${decorator}\n${property}`
    );
    if (model?.timestamps) members.push("readonly createdAt!: Date;\nreadonly updatedAt!: Date;");
    if (id === undefined) members.unshift("static override schemaOptions = { _id: false };");
    const gap = plain ? "" : "\n";
    const body = members.map((text) => `${indent(text)}\n`).join(gap);
    const configure = this.#configure(id, model?.indexes ?? []);
    const parts = [body, ...configure === undefined ? [] : [`${indent(configure)}\n`]];
    const lines = parts.filter((part) => part !== "").join("\n");
    const start = lines === "" ? "" : "\n";
    const text = `export class ${name} extends FrameworkModel {${start}${lines}}\n`;
    const rest = model === undefined ? [] : this.#rest(model);
    if (!plain) return rest.length > 0 ? `${stack(["@rest({", "})"], rest)}\n${text}` : text;
    const entries = declared.map(({ key, options }) => `${key}: ${wrap(["{", "}"], options)}`);
    const options = [
      entries.length > 0 ? stack(["fields: {", "}"], entries) : "fields: {}",
      ...model === undefined ? [] : [stack(["rest: {", "}"], rest)],
    ];
    return `${text}${stack([`define(${name}, {`, "});"], options)}\n`;
  }

  #rest({ name, route, collection, operations, timestamps }: FoundModel): string[] {
    const options = [
      ...this.#options.collectionOf(name) === collection
        ? []
        : [`collection: ${quote(collection)}`],
      ...timestamps ? ["timestamps: true"] : [],
    ];
    return [
      `route: ${quote(route)}`,
      wrap(["methods: [", "]"], operations),
      ...options.length > 0 ? [wrap(["schemaOptions: {", "}"], options)] : [],
    ];
  }

  #configure(id: string | undefined, indexes: readonly DeclaredIndex[]): string | undefined {
    const lines = indexes.map(({ keys, options }) => {
      const given = [keys, options].filter((each) => Object.keys(each).length > 0);
      return `schema.index(${given.map((each) => literal(each)).join(", ")});`;
    });
    if (id !== undefined && id !== "ObjectId") {
      lines.unshift(`schema.add({ _id: ${id === "UUID" ? "mongoose.Schema.Types.UUID" : id} });`);
      this.#hasMongoose ||= id === "UUID";
    }
    if (lines.length === 0) return undefined;
    this.#hasSchema = true;
    return `static override configure(schema: Schema): void {\n${indent(lines.join("\n"))}\n}`;
  }

  #field(field: Field, owner: string) {
    const { name, isList, required, hidden } = field;
    const key = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : quote(name);
    const { value, type, options } = this.#type(field, { owner, isList });
    const own = [
      ...isList ? [`items: ${value}`, ...options] : value === "String" ? [] : [
        `${field.ref === undefined ? "type" : "ref"}: ${value}`,
        ...options,
      ],
      ...required && !isList ? ["required: true"] : [],
      ...hidden ? ["hidden: true"] : [],
    ];
    const decorator = isList ? "arrayProp" : "prop";
    if (!this.#options.plain) this.#used.add(decorator);
    if (hidden) this.#used.add("Hidden");
    const whole = isList ? `${type === "unknown" ? "object" : type}[]` : type;
    return {
      key,
      options: own,
      decorator: own.length === 0 ? `@${decorator}()` : wrap([`@${decorator}({`, "})"], own),
      property: `${key}${required ? "!" : "?"}: ${hidden ? `Hidden<${whole}>` : whole};`,
    };
  }

  #type(
    { kind, of, fields, id, ref, name = "" }: ValueType & Partial<Field>,
    { owner, isList = false }: { readonly owner: string; readonly isList?: boolean },
  ): { readonly value: string; readonly type: string; readonly options: readonly string[] } {
    const target = ref === undefined ? undefined : this.#options.models.get(ref);
    if (target !== undefined) {
      this.#used.add("Ref");
      if (target.name !== this.#model.name) this.#targets.set(target.name, target);
      return { value: `() => ${target.name}`, type: `Ref<${target.name}>`, options: [] };
    }
    if (kind === "Class") {
      const own = isList ? className(name, "Part") : partName(name);
      const inner = this.#names.take(owner + own);
      this.#classes.push(this.#class({ name: inner, fields: fields ?? [], id }));
      return { value: inner, type: inner, options: isList ? ["embedded: true"] : [] };
    }
    if (kind === "Map") {
      const values = of && this.#type({ ...of, name: `${name} value` }, { owner });
      const options = values === undefined ? [] : [`of: ${values.value}`];
      return { value: "Map", type: `Map<string, ${values?.type ?? "unknown"}>`, options };
    }
    this.#hasMongoose ||= kind in MONGOOSE_TYPES;
    this.#hasBuffer ||= kind === "Buffer";
    const { [kind]: mongoose = kind } = MONGOOSE_TYPES;
    return { value: mongoose, type: TYPES[kind] ?? mongoose, options: [] };
  }
}

const MONGOOSE_TYPES: Readonly<Record<string, string>> = {
  Decimal128: "mongoose.Types.Decimal128",
  ObjectId: "mongoose.Types.ObjectId",
  UUID: "mongoose.Types.UUID",
};

const TYPES: Readonly<Record<string, string>> = {
  BigInt: "bigint",
  Boolean: "boolean",
  Number: "number",
  Object: "unknown",
  String: "string",
};

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

type Brackets = readonly [open: string, close: string];

/**
 * Joins items on one line if it fits, as `deno fmt` does. In a class inside of a call, the line has four columns less.
 */
function wrap([open, close]: Brackets, items: readonly string[]): string {
  const space = open.endsWith("{") && items.length > 0 ? " " : "";
  const line = open + space + items.join(", ") + space + close;
  return line.length > WIDTH - 4 || line.includes("\n") ? stack([open, close], items) : line;
}

function stack([open, close]: Brackets, items: readonly string[]): string {
  return `${open}\n${indent(items.map((item) => `${item},`).join("\n"))}\n${close}`;
}

/** Escapes line separators, which would be indented, and invisible characters, which could reverse the shown text. */
function quote(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\p{Cf}\p{Zl}\p{Zp}]/gu,
    (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`,
  );
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return wrap(["[", "]"], value.map(literal));
  if (typeof value !== "object" || value === null) return quote(value);
  const items = Object.entries(value).map(([key, each]) =>
    `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key)}: ${literal(each)}`
  );
  return wrap(["{", "}"], items);
}
