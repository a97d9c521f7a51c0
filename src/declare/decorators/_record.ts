import { openRecords } from "../model/metadata.ts";
import type { ModelRecords } from "../model/metadata.ts";
import type { FieldRecord } from "../model/records.ts";

/** The context of a decorator. Compilers that are set to legacy decorators pass something else. */
type LooseContext =
  | { readonly kind?: unknown; readonly metadata?: object }
  | string
  | symbol
  | null
  | undefined;

/**
 * Opens the records of the class that is being decorated.
 *
 * @throws {TypeError} If the compiler gave no `context.metadata`.
 */
export function recordsOf(decorator: string, context: LooseContext): ModelRecords {
  const metadata = typeof context === "object" ? context?.metadata : undefined;
  if (metadata === undefined || metadata === null) {
    throw new TypeError(
      `Cannot apply @${decorator}: the compiler gave no standard decorator metadata; use TC39 decorators: ` +
        `in tsconfig.json remove "experimentalDecorators" and set "target" to "es2022", ` +
        `in swc set "jsc.transform.decoratorVersion" to "2022-03", ` +
        `in esbuild set "target" to "node20" or lower, and import the framework before the models`,
    );
  }
  return openRecords(metadata);
}

/** Records a field, or the problem of its declaration. */
export function recordField(
  { array, options }: Omit<FieldRecord, "name">,
  context: ClassFieldDecoratorContext,
): void {
  const decorator = array ? "arrayProp" : "prop";
  const records = recordsOf(decorator, context);
  const name = String(context.name);
  const problem = fieldProblem(context);
  if (problem !== undefined) {
    records.problems.push(`property "${name}" ${problem}`);
  } else {
    records.fields.set(name, { name, array, options: { ...options } });
  }
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
