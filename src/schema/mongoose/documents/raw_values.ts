import type { Document } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

/** The stored values of a document, past getters and change tracking. */
export function rawValues(doc: Document): Record<string, unknown> {
  return (doc as unknown as { _doc: Record<string, unknown> })._doc;
}

export const RAW_VALUES: Knowledge = {
  name: "stored values of documents",
  holds: ({ doc }) => rawValues(doc).text === "a" && rawValues(doc).inner === doc.get("inner"),
};
