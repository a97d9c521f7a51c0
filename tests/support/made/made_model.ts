import { all, arrayProp, create, FrameworkModel, one, prop, rest } from "../../../mod.ts";
import type { ModelClass } from "../../../mod.ts";
import { pass } from "../both_paths.ts";

/** Operations without documents, below `/fast`, and with them, below `/slow`. */
const FAST = { route: "/fast", methods: [all(), one(), create()] };
const SLOW = { route: "/slow", methods: [all({ preSend: pass }), one({ preSend: pass })] };

/** A declaration of a field: `array` tells {@linkcode arrayProp} from {@linkcode prop}. */
export interface FieldGiven {
  readonly array: boolean;
  readonly options: Record<string, unknown>;
}

/** Options of the schema, and whether the class has both routes. */
export type MadeOptions = Record<string, unknown> & { readonly served?: boolean };

/** For fields that are known at run time only. */
export function makeModel(
  fields: Record<string, FieldGiven>,
  { served = false, ...schemaOptions }: MadeOptions = {},
): ModelClass {
  class Made extends FrameworkModel {}
  const metadata = {};
  for (const [name, { array, options }] of Object.entries(fields)) {
    const context = { kind: "field", name, static: false, private: false, metadata };
    (array ? arrayProp(options as never) : prop(options as never))(undefined, context as never);
  }
  Object.defineProperty(Made, Symbol.metadata, { value: metadata });
  Object.assign(Made, { schemaOptions });
  const context = { kind: "class", name: "Made", metadata, addInitializer: () => {} };
  for (const given of served ? [FAST, SLOW] : []) {
    rest({ ...given, schemaOptions })(Made as never, context as never);
  }
  return Made;
}
