import { join } from "node:path";

/** An application to measure. */
export interface ManyModels {
  /** How many models it has. */
  readonly count: number;
  /** Whether it calls the client. */
  readonly calls: boolean;
  /** The form in which the models are declared. The default is `"decorators"`. */
  readonly form?: "decorators" | "define";
}

/** What `tsc --extendedDiagnostics` says. */
export interface CompilerCost {
  /** How many types it has made of generic ones. */
  readonly instantiations: number;
  /** How many types there are. */
  readonly types: number;
  /** The time of the processor, where it was measured. */
  readonly seconds: number;
}

/** Twenty fields: of several types, with references to the next model, and embedded entities. */
function writeModel(n: number, of: number): string {
  const next = (n + 1) % of;
  const scalars = Array.from({ length: 5 }, (_, i) =>
    `  @prop() text${i}?: string;
  @prop({ type: Number }) number${i}?: number;
  @prop({ type: Date }) date${i}?: Date;`);
  return `import { arrayProp, FrameworkModel, type Hidden, prop, type Ref } from "@mongrove/mongrove";
import { Model${next} } from "./model${next}.ts";
export class Part${n} extends FrameworkModel {
  @prop() city?: string;
}
export class Model${n} extends FrameworkModel {
${scalars.join("\n")}
  @prop({ ref: () => Model${next} }) one?: Ref<Model${next}>;
  @arrayProp({ items: () => Model${next} }) many?: Ref<Model${next}>[];
  @prop({ type: () => Part${n} }) part?: Part${n};
  @arrayProp({ items: String }) tags?: string[];
  @prop({ hidden: true }) secret?: Hidden<string>;
}
`;
}

/** The model of {@linkcode writeModel}, without decorators. */
function writeDefinedModel(n: number, of: number): string {
  const next = (n + 1) % of;
  const names = Array.from({ length: 5 }, (_, i) => i);
  const properties = names.map((i) =>
    `  text${i}?: string;
  number${i}?: number;
  date${i}?: Date;`
  );
  const entries = names.map((i) =>
    `    text${i}: {},
    number${i}: { type: Number },
    date${i}: { type: Date },`
  );
  return `import { define, FrameworkModel, type Hidden, type Ref } from "@mongrove/mongrove";
import { Model${next} } from "./model${next}.ts";
export class Part${n} extends FrameworkModel {
  city?: string;
}
define(Part${n}, { fields: { city: {} } });
export class Model${n} extends FrameworkModel {
${properties.join("\n")}
  one?: Ref<Model${next}>;
  many?: Ref<Model${next}>[];
  part?: Part${n};
  tags?: string[];
  secret?: Hidden<string>;
}
define(Model${n}, {
  fields: {
${entries.join("\n")}
    one: { ref: () => Model${next} },
    many: { items: () => Model${next} },
    part: { type: () => Part${n} },
    tags: { items: String },
    secret: { hidden: true },
  },
});
`;
}

/** What an application does with a resource. */
function writeCalls(n: number): string {
  return `import { connect } from "@mongrove/mongrove/client";
import type { Model${n} } from "./model${n}.ts";
const list = connect("https://example.org").resource<Model${n}>("/model${n}");
export async function use(id: string): Promise<string | undefined> {
  const { items } = await list.all({
    q: { number0: { $gte: 1 }, "part.city": "Rome", $or: [{ text1: "a" }, { tags: "b" }] },
    sort: ["-date0"], select: ["text0", "date1"], revive: ["date1"],
  });
  const one = await list.one(id, { populate: ["one", "many"] });
  await list.create({ text0: "a", part: { city: "Rome" } });
  await list.update(id, { number0: one.number1 ?? 0, text1: null }, { ifMatch: one });
  for await (const each of list.each()) if (each.text4 === id) return each.part?.city;
  return items[0]?.text0 ?? one.one?.text2;
}
`;
}

/**
 * Writes an application with many models of twenty fields.
 *
 * @param folder Where to.
 * @param models How many, in which form, and whether the client is called for each.
 */
export async function writeModels(
  folder: string,
  { count, calls, form = "decorators" }: ManyModels,
): Promise<void> {
  const write = form === "define" ? writeDefinedModel : writeModel;
  for (let n = 0; n < count; n++) {
    await Deno.writeTextFile(join(folder, `model${n}.ts`), write(n, count));
    if (calls) await Deno.writeTextFile(join(folder, `use${n}.ts`), writeCalls(n));
  }
}

/**
 * Reads what tsc has said.
 *
 * @param said Its output.
 * @returns The figures.
 */
export function readCost(said: string): CompilerCost {
  const read = (label: string) => Number(new RegExp(`^${label}: +([\\d.]+)`, "m").exec(said)?.[1]);
  return {
    instantiations: read("Instantiations"),
    types: read("Types"),
    seconds: read("Processor"),
  };
}
