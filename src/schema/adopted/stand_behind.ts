import type { Document, Model } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { isDocument } from "../mongoose/bson.ts";
import { classOfModel } from "./adoption.ts";

/** Documents of requests become instances of the application's model, so they have its methods. */
export function standBehind(given: Model<unknown>, own: Model<unknown>): void {
  Object.setPrototypeOf(own, given);
  Object.setPrototypeOf(own.prototype, given.prototype);
  own.modelName = given.modelName;
  // The application's model builds indexes on its own connection only. On another one, `own` must build them.
  own.init = () => (own.db === given.db ? given.init() : own.createIndexes()) as never;
}

const STORED = {
  depopulate: true,
  flattenMaps: false,
  getters: false,
  minimize: false,
  transform: false,
  virtuals: false,
};

interface Nested extends Document {
  ownerDocument?(): Document;
  "$__fullPath"?(): string;
}

/**
 * A hook may return a document of the application's model, which hides no fields. A copy with Mongrove's schema hides
 * them.
 */
export function asAdopted(
  doc: Document,
  modelFor: (target: ModelClass) => Model<unknown>,
): Document | undefined {
  const nested = doc as Nested;
  const owner = nested.ownerDocument?.() ?? doc;
  const target = classOfModel(owner.constructor);
  if (target === undefined) return doc;
  const values = owner.toObject(STORED);
  const copy = modelFor(target).hydrate(values) as Document;
  const found: unknown = owner === doc ? copy : copy.get(nested.$__fullPath?.() ?? "");
  return isDocument(found) ? found as Document : undefined;
}
