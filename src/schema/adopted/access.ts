import type { Schema } from "mongoose";
import { memoize } from "../memoize.ts";
import { hasDefault } from "../mongoose/schemas/field_rules.ts";
import type { Adoption, Names } from "./adoption.ts";
import { embeddedSchema, typesOf } from "./paths.ts";
import { probe } from "./probe.ts";

export interface PathAccess {
  readonly hidden: boolean;
  readonly readonly: boolean;
  readonly within?: SchemaAccess;
}

export type SchemaAccess = ReadonlyMap<string, PathAccess>;

export const accessOf = memoize((adoption: Adoption): SchemaAccess => {
  const { model, shown, writable, path } = adoption;
  const all = accessWithin(model.schema as Schema, {
    adoption,
    removed: probe(model).removed,
    prefix: "",
    shown: shown === "all",
    writable: writable === "all",
  });
  return path === undefined ? all : all.get(path)?.within ?? new Map();
});

interface Place {
  readonly adoption: Adoption;
  readonly removed: ReadonlySet<string>;
  readonly prefix: string;
  /** `true` if the application's list `shown` contains a parent of these paths, so that all of them are shown. */
  readonly shown: boolean;
  readonly writable: boolean;
}

function accessWithin(schema: Schema, place: Place): SchemaAccess {
  const { adoption, removed, prefix } = place;
  const version: unknown = schema.get("versionKey");
  return new Map(
    typesOf(schema).map(([path, type]) => {
      const full = `${prefix}${path}`;
      const isClosed = type.options.select === false || removed.has(full);
      const [shown, writable] = (["shown", "writable"] as const).map((list) =>
        reach(adoption[list], { full, prefix, isClosed, isCovered: place[list] })
      ) as [Reach, Reach];
      const inner = embeddedSchema(type);
      const within = inner && accessWithin(inner, {
        ...place,
        prefix: `${full}.`,
        shown: shown === "whole",
        writable: writable === "whole",
      });
      const isSystem = path === "_id" && (prefix !== "" || hasDefault(type)) || path === version;
      return [path, {
        hidden: path !== "_id" && path !== version && shown === "none",
        readonly: !isSystem && writable === "none",
        ...within && { within },
      }];
    }),
  );
}

type Reach = "whole" | "partly" | "none";

function reach(
  names: Names,
  { full, prefix, isClosed, isCovered }: {
    readonly full: string;
    readonly prefix: string;
    readonly isClosed: boolean;
    readonly isCovered: boolean;
  },
): Reach {
  if (names === "all") return isClosed || !isCovered ? "none" : "whole";
  if (names.has(full)) return "whole";
  const steps = full.split(".");
  // A nested path such as `address` has no schema type, so `names` is searched for it here.
  const isBelow = steps.some((_, index) => {
    const above = steps.slice(0, index).join(".");
    return above.length > prefix.length && names.has(above);
  });
  if ((isCovered || isBelow) && !isClosed) return "whole";
  return [...names].some((name) => name.startsWith(`${full}.`)) ? "partly" : "none";
}
