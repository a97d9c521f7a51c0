import type { RestOptions } from "../decorators/rest.ts";
import type { ModelClass } from "./framework_model.ts";

/** A field, as its decorator was called. */
export interface FieldRecord {
  readonly name: string;
  /** Whether `@arrayProp` declared it. */
  readonly array: boolean;
  readonly options: Readonly<Record<string, unknown>>;
}

/** An `@rest` on a class or on a property, as it was called. */
export interface RestRecord extends Omit<RestOptions, "route"> {
  /** The route. On a property, the default is its name. */
  readonly route?: string;
}

/** The records of one class, never read through the prototype chain of metadata, on which compilers disagree. */
interface ModelRecords {
  readonly fields: Map<string, FieldRecord>;
  /** The `@rest` on properties, by property. */
  readonly parts: Map<string, RestRecord[]>;
  /** The `@rest` on the class. */
  readonly rests: RestRecord[];
  /** Problems of the declaration, which are thrown when the class is first used. */
  readonly problems: string[];
}

const KEY = Symbol("mongrove");

// On Node 20, classes compiled by tsc have no metadata otherwise.
if (Symbol.metadata === undefined) {
  Object.defineProperty(Symbol, "metadata", { value: Symbol.for("Symbol.metadata") });
}

/** Opens the records of the class that is being decorated. Throws if the compiler gave no `context.metadata`. */
export function recordsOf(decorator: string, context: unknown): ModelRecords {
  // Compilers that are set to legacy decorators pass something else as context
  const { metadata } = Object(context) as { readonly metadata?: object | null };
  if (metadata === undefined || metadata === null) {
    throw new TypeError(
      `Cannot apply @${decorator}: the compiler gave no standard decorator metadata; use TC39 decorators: ` +
        `in tsconfig.json remove "experimentalDecorators" and set "target" to "es2022", ` +
        `in swc set "jsc.transform.decoratorVersion" to "2022-03", ` +
        `in esbuild set "target" to "node20" or lower, and import the framework before the models`,
    );
  }
  if (!Object.hasOwn(metadata, KEY)) {
    const records: ModelRecords = { fields: new Map(), parts: new Map(), rests: [], problems: [] };
    Object.defineProperty(metadata, KEY, { value: records });
  }
  return (metadata as { [KEY]: ModelRecords })[KEY];
}

/** Gives the records of a class, without inherited ones. */
export function ownRecords(target: object): ModelRecords | undefined {
  if (!Object.hasOwn(target, Symbol.metadata)) return undefined;
  const metadata =
    (target as { [Symbol.metadata]: { [KEY]: ModelRecords } | null })[Symbol.metadata];
  return metadata !== null && Object.hasOwn(metadata, KEY) ? metadata[KEY] : undefined;
}

export function recordField(
  { array, options }: Omit<FieldRecord, "name">,
  context: ClassFieldDecoratorContext,
): void {
  const records = recordsOf(array ? "arrayProp" : "prop", context);
  const name = String(context.name);
  const problem = fieldProblem(context);
  if (problem !== undefined) records.problems.push(`property "${name}" ${problem}`);
  else records.fields.set(name, { name, array, options: { ...options } });
}

function fieldProblem(context: ClassFieldDecoratorContext): string | undefined {
  if ((context.kind as string) !== "field") {
    return `is not a field but ${context.kind}, which a document could not serve`;
  }
  if (context.private) return "is #private, which a document could not serve";
  if (context.static) return "is static, and only fields of the instance are stored";
  if (typeof context.name === "symbol") return "is a symbol, which a document could not serve";
  return undefined;
}

const registered = new Set<ModelClass>();

export function registerModel(target: ModelClass): void {
  registered.add(target);
}

/** Gives all classes with `@rest`, in the order of their evaluation. */
export function registeredModels(): ModelClass[] {
  return [...registered];
}
