import type { Document, Schema } from "mongoose";
import { asVersion } from "../../fields/system_fields.ts";
import type { Version } from "../../fields/system_fields.ts";
import { markOwnMiddleware } from "./middleware.ts";

/** Documents that were read with something else in the place of their version. */
const odd = new WeakSet<Document>();

/** Has documents remember that their stored version is none: Mongoose would make a number of some of what is no number. */
export function rememberOddVersions(schema: Schema): void {
  const key: unknown = schema.get("versionKey");
  if (typeof key !== "string") return;
  const remember = function (this: Document, stored: Record<string, unknown>): void {
    const version = stored[key];
    const read = asVersion(version);
    if (version !== undefined && read === null) odd.add(this);
    // Mongoose has no number for what a connection reads as BigInt.
    if (typeof version === "bigint" && read !== null) stored[key] = read;
  };
  markOwnMiddleware(remember);
  schema.pre("init", remember as never);
}

/** Tells the version of a document, as it was stored. */
export function versionOf(doc: Document, key: string): Version {
  return odd.has(doc) ? null : asVersion(doc.get(key));
}

export function hasOddVersion(doc: Document): boolean {
  return odd.has(doc);
}

/** Notes that the version of a document is written anew. */
export function forgetOddVersion(doc: Document): void {
  odd.delete(doc);
}
