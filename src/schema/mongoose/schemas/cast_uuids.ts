import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { markOwn, typesWithin } from "./schema_members.ts";

const { UUID } = mongoose.Schema.Types;

const FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

interface UuidType {
  _castFunction?: unknown;
  checkRequired?(value: unknown): boolean;
}

interface Caster {
  cast(): (value: unknown) => unknown;
}

/** Mongoose refuses some UUIDs that MongoDB stores, such as the nil UUID. */
export function castUuids(schema: Schema): void {
  for (const type of Object.values(schema.paths).flatMap(typesWithin)) {
    if (type.constructor !== UUID) continue;
    const own = type as SchemaType & UuidType;
    own._castFunction ??= castUuid;
    own.checkRequired = (value) => value !== undefined && value !== null;
  }
}

const castUuid = markOwn((value: unknown): unknown =>
  typeof value === "string" && FORM.test(value)
    ? new mongoose.mongo.UUID(value)
    : (UUID as unknown as Caster).cast()(value)
);
