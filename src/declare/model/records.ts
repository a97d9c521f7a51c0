import type { RestOptions } from "../decorators/rest.ts";
import { checkCopy, makeRegistry, markCopy } from "./copies.ts";
import type { ModelClass } from "./framework_model.ts";

export interface FieldRecord {
  readonly name: string;
  readonly array: boolean;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface RestRecord extends Omit<RestOptions, "route"> {
  readonly route?: string;
}

/**
 * The declarations of one class, without its ancestors. The object is read only as an own property of the class
 * metadata, because compilers disagree on the prototype of the metadata.
 */
interface ModelRecords {
  readonly fields: Map<string, FieldRecord>;
  readonly parts: Map<string, RestRecord[]>;
  /** In the order of the source, in which Express tries the routes, although decorators run in the reverse order. */
  readonly rests: RestRecord[];
  /** The error texts of a wrong declaration, which the first use of the class throws. */
  readonly problems: string[];
}

const KEY = Symbol.for("mongrove.records");

// Node has no `Symbol.metadata`. Without the symbol, code that tsc has compiled creates no metadata, and every
// decorator would throw.
if (Symbol.metadata === undefined) {
  Object.defineProperty(Symbol, "metadata", { value: Symbol.for("Symbol.metadata") });
}

export function recordsOf(decorator: string, context: unknown): ModelRecords {
  // With legacy decorators, the second argument is the name of the property instead of a context, and has no metadata.
  const { metadata } = Object(context) as { readonly metadata?: object | null };
  if (metadata === undefined || metadata === null) {
    throw new TypeError(
      `Cannot apply @${decorator}: the compiler gave no standard decorator metadata; use TC39 decorators: ` +
        `in tsconfig.json remove "experimentalDecorators" and set "target" to "es2022", ` +
        `in swc set "jsc.transform.decoratorVersion" to "2022-03", ` +
        `in esbuild set "target" to "node22" or lower, and import the framework before the models`,
    );
  }
  return recordsIn(metadata);
}

function recordsIn(metadata: object): ModelRecords {
  if (!Object.hasOwn(metadata, KEY)) {
    const records: ModelRecords = { fields: new Map(), parts: new Map(), rests: [], problems: [] };
    Object.defineProperty(metadata, KEY, { value: markCopy(records) });
  }
  return ownCopy((metadata as { [KEY]: ModelRecords })[KEY]);
}

function ownCopy(records: ModelRecords): ModelRecords {
  checkCopy(records, "a declaration");
  return records;
}

/** A decorator of another library may have created the metadata of the class, which must stay. */
export function createRecords(target: ModelClass): ModelRecords {
  if (!Object.hasOwn(target, Symbol.metadata)) {
    // Compilers assign the metadata of a decorated subclass, which would throw if the subclass inherited a read-only
    // property.
    const metadata = { value: {}, writable: true, configurable: true };
    Object.defineProperty(target, Symbol.metadata, metadata);
  }
  return recordsIn((target as unknown as { [Symbol.metadata]: object })[Symbol.metadata]);
}

export function ownRecords(target: object): ModelRecords | undefined {
  if (!Object.hasOwn(target, Symbol.metadata)) return undefined;
  const metadata =
    (target as { [Symbol.metadata]: { [KEY]: ModelRecords } | null })[Symbol.metadata];
  return metadata !== null && Object.hasOwn(metadata, KEY) ? ownCopy(metadata[KEY]) : undefined;
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

const registered = makeRegistry();

let registryClosed = false;

/**
 * Whether a router has mounted the models. It never serves routes that are declared later, so `define()` refuses them.
 */
export function isRegistryClosed(): boolean {
  return registryClosed;
}

export function closeRegistry(): void {
  registryClosed = true;
}

export function registerModel(target: ModelClass): void {
  registered.add(target);
}

export function registeredModels(): ModelClass[] {
  return [...registered];
}
