import mongoose from "mongoose";
import type { ArrayPropOptions, PropOptions } from "../../../declare/decorators/prop.ts";
import type { FieldOptions } from "../../../declare/decorators/field_options.ts";
import type { MongooseValues } from "../../../declare/decorators/field_type.ts";
import type { FieldRecord } from "../../../declare/model/records.ts";

type Names<T> = Record<keyof T, true>;

const FIELD: Names<FieldOptions<unknown>> = {
  ...{
    required: true,
    hidden: true,
    readonly: true,
    apart: true,
    immutable: true,
    select: true,
    alias: true,
  },
  ...{ unique: true, index: true, sparse: true, expires: true },
  ...{ summary: true, description: true, deprecated: true, example: true },
  ...{ default: true, enum: true, validate: true, min: true, max: true },
  ...{ minLength: true, maxLength: true, match: true },
  ...{ trim: true, lowercase: true, uppercase: true },
  ...{ get: true, set: true, transform: true },
};

const PROP: Names<PropOptions<unknown>> = {
  ...FIELD,
  ...{ type: true, ref: true, exists: true, of: true },
};

const ARRAY_PROP: Names<ArrayPropOptions<unknown, unknown>> = {
  ...FIELD,
  ...{ items: true, embedded: true, exists: true },
};

const TYPES: Names<MongooseValues> = {
  ...{ String: true, Number: true, Int32: true, Double: true, BigInt: true, Decimal128: true },
  ...{ Boolean: true, Date: true, Buffer: true, ObjectId: true, UUID: true },
  ...{ Map: true, Mixed: true },
};

/** The other options of Mongoose. Its types do not list "encrypt". */
const OTHERS: ReadonlySet<string> = new Set([
  ...Object.values(mongoose.Schema.Types).flatMap(optionsOf),
  "encrypt",
]);

/** Gives an option that neither a decorator nor Mongoose knows. A type of the host or of a package may read any. */
export function unknownOption(
  { array, options }: FieldRecord,
  type: unknown,
): string | undefined {
  if (isOwnType(type)) return undefined;
  const known = array ? ARRAY_PROP : PROP;
  return Object.keys(options).find((name) =>
    !Object.hasOwn(known, name) && (name === "type" || !OTHERS.has(name))
  );
}

function isOwnType(type: unknown): boolean {
  const { prototype, schemaName } = Object(type) as { prototype?: unknown; schemaName?: unknown };
  return prototype instanceof mongoose.SchemaType && !Object.hasOwn(TYPES, String(schemaName));
}

function optionsOf(type: unknown): string[] {
  const { OptionsConstructor } = (type as { prototype: object }).prototype as {
    OptionsConstructor?: { readonly prototype: object };
  };
  const names: string[] = [];
  let holder = OptionsConstructor?.prototype;
  while (holder !== undefined && holder !== Object.prototype) {
    names.push(...Object.getOwnPropertyNames(holder));
    holder = Object.getPrototypeOf(holder);
  }
  return names.filter((name) => name !== "constructor");
}
