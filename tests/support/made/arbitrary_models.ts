import fc from "fast-check";
import {
  anything,
  FIELD_NAMES,
  keyed,
  objectIds,
  ownKeys,
  POOL,
  SCALAR_FIELDS,
} from "./arbitrary_values.ts";
import { type FieldGiven, makeModel } from "./made_model.ts";

/** A field with fitting values. */
interface Field extends FieldGiven {
  readonly values: fc.Arbitrary<unknown>;
}

/** They keep a field out of answers. `select` cannot leave out fields inside of a map. */
function flags(selectable: boolean) {
  return fc.record({
    hidden: fc.constantFrom({}, {}, {}, { hidden: true }),
    select: fc.constantFrom({}, {}, {}, selectable ? { select: false } : {}),
  }).map(({ hidden, select }) => ({ ...hidden, ...select }));
}

function scalarFields(selectable: boolean): fc.Arbitrary<Field> {
  const defaults = fc.constantFrom("none", "none", "null", "own");
  const kinds = fc.constantFrom("one", "one", "array", "map");
  return fc.tuple(fc.constantFrom(...SCALAR_FIELDS), flags(selectable), defaults, kinds).map(
    ([[type, values, standsFor], shared, given, kind]) => {
      if (kind === "array") {
        const list = fc.array(fc.oneof({ weight: 9, arbitrary: values }, fc.constant(null)));
        return { array: true, options: { items: type, ...shared }, values: list };
      }
      if (kind === "map") {
        return { array: false, options: { type: Map, of: type, ...shared }, values: keyed(values) };
      }
      const own = given === "null" ? { default: null } : { default: standsFor };
      return { array: false, options: { type, ...shared, ...given !== "none" && own }, values };
    },
  );
}

const freeFields: fc.Arbitrary<Field> = fc.constantFrom<Field>(
  { array: false, options: { type: Object }, values: anything },
  { array: true, options: { items: Object }, values: fc.array(anything, { maxLength: 3 }) },
  { array: false, options: { type: Map }, values: keyed(anything) },
  { array: false, options: { type: Object, hidden: true }, values: anything },
  { array: false, options: { type: Object, default: () => ({}) }, values: anything },
);

/** Fields, and objects that fit mostly, sometimes not at all, with undeclared data between. */
interface Model {
  readonly fields: Record<string, FieldGiven>;
  readonly objects: fc.Arbitrary<object>;
}

function modelOf(fields: Record<string, Field>, identified: boolean): Model {
  const entries = Object.entries(fields).map((
    [name, { values }],
  ): [string, fc.Arbitrary<unknown>] => [
    name,
    fc.oneof({ weight: 12, arbitrary: values }, { weight: 1, arbitrary: anything }),
  ]);
  const objects = fc.tuple(
    fc.record(Object.fromEntries(entries), { requiredKeys: [] }),
    fc.dictionary(fc.constantFrom("other", "hidden", "__v", "zz"), anything, { maxKeys: 2 }),
    objectIds,
    fc.boolean(),
  ).map(([declared, others, _id, before]) =>
    ownKeys({
      ...before && others,
      ...identified && { _id },
      ...declared,
      ...others,
    })
  );
  const given = Object.entries(fields).map((
    [name, { array, options }],
  ) => [name, { array, options }]);
  return { fields: Object.fromEntries(given), objects };
}

/** Fields that hold objects of a class, alone, in arrays or in maps. */
function embeddedFields(selectable: boolean, depth: number): fc.Arbitrary<Field> {
  return fc.tuple(fc.boolean(), fc.constantFrom("one", "array", "map"), flags(selectable)).chain(
    ([identified, kind, shared]) =>
      models({
        selectable: selectable && kind !== "map" && !("select" in shared),
        depth: depth - 1,
        identified,
      }).map(
        ({ fields, objects }) => {
          const type = makeModel(fields, identified ? {} : { _id: false });
          if (kind === "array") {
            const values = fc.array(objects, { maxLength: 3 });
            return { array: true, options: { items: type, embedded: true, ...shared }, values };
          }
          return kind === "map"
            ? { array: false, options: { type: Map, of: type, ...shared }, values: keyed(objects) }
            : { array: false, options: { type, ...shared }, values: objects };
        },
      ),
  );
}

export interface ModelsOptions {
  /** Whether `select` may leave fields out. */
  readonly selectable: boolean;
  readonly depth: number;
  readonly identified: boolean;
}

export function models({ selectable, depth, identified }: ModelsOptions): fc.Arbitrary<Model> {
  const leaves = fc.oneof({ weight: 5, arbitrary: scalarFields(selectable) }, freeFields);
  const fields = depth === 0 ? leaves : fc.oneof({ weight: 5, arbitrary: leaves }, {
    weight: 3,
    arbitrary: embeddedFields(selectable, depth),
  });
  return fc.dictionary(fc.constantFrom(...FIELD_NAMES), fields, { minKeys: 1, maxKeys: 6 }).map(
    (given) => modelOf(given, identified),
  );
}

/** A random model, and documents for it. */
export interface Case {
  readonly fields: Record<string, FieldGiven>;
  readonly documents: readonly object[];
}

export const cases: fc.Arbitrary<Case> = models({ selectable: true, depth: 2, identified: false })
  .chain(({ fields, objects }) =>
    fc.array(objects, { minLength: 1, maxLength: 8 }).map((documents) => ({
      fields,
      documents,
      [fc.toStringMethod]: () => Deno.inspect({ fields, documents }, { depth: 8 }),
    }))
  );

/** Removes identifiers of embedded objects that Mongoose has made up. */
export function withoutMadeUp(value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutMadeUp(each, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key, each]) =>
    key !== "_id" || depth < 2 || POOL.includes(each as string)
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutMadeUp(each, depth + 1)]));
}
