import type { Document, Model } from "mongoose";

type Values = Readonly<Record<string, unknown>>;

const FOUND = { skipId: true, isNew: false, willInit: true };

export function foundDocument(
  model: Model<unknown>,
  { values, projection }: { readonly values: object; readonly projection?: object | undefined },
): Document {
  // `hydrate()` would copy every object from which a field is left out.
  return (new model(undefined, projection, FOUND) as Document).init(values);
}

/** Leaves out all other fields, because functions of their defaults may need values that were not read. */
export function documentOfFields(
  model: Model<unknown>,
  { values, names }: { readonly values: Values; readonly names: readonly string[] },
): Document {
  const all = ["_id", ...names];
  const kept = Object.entries(values).filter(([name]) => all.includes(name));
  return foundDocument(model, {
    values: Object.fromEntries(kept),
    projection: Object.fromEntries(all.map((name) => [name, 1])),
  });
}
