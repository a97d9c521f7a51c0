import type { Document, Model } from "mongoose";

/** Makes a document of what the database has already projected: `Model.hydrate()` would project it once more. */
export function foundDocument(
  model: Model<unknown>,
  { raw, projection }: { readonly raw: object; readonly projection: Record<string, unknown> },
): Document {
  // These are the arguments with which a query makes its documents.
  const options = { skipId: true, isNew: false, willInit: true };
  const doc = new model(undefined, projection as never, options as never) as Document;
  return doc.init(raw as never);
}
