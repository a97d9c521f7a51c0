import type { Schema } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

/** The fields in which Mongoose keeps when a document was created and changed; none where it keeps none. */
export interface StampFields {
  readonly createdAt?: string | null;
  readonly updatedAt?: string | null;
}

/** Gives the fields in which Mongoose keeps when a document was created and changed. */
export function stampFields(schema: Schema): StampFields {
  const { $timestamps } = schema as { $timestamps?: StampFields };
  return $timestamps ?? {};
}

/** Timestamps are not the client's to set. */
export const TIMESTAMPS: Knowledge = {
  name: "names of timestamps",
  holds({ schema }) {
    const { createdAt, updatedAt } = stampFields(schema);
    return createdAt === "made" && updatedAt === "updatedAt";
  },
};
