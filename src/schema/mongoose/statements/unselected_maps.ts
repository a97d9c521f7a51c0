import type { Query, Schema, SchemaType } from "mongoose";
import { markOwn } from "../schemas/schema_members.ts";

/** A Map that reads leave out, inside of objects that they leave out as well. */
interface InnerMap {
  readonly path: string;
  readonly around: readonly string[];
}

/**
 * Lets queries leave out a Map inside an object that they leave out. Mongoose names both, which MongoDB refuses: every read
 * with documents of a model that has such a Map would be a 500.
 */
export function guardUnselectedMaps(schema: Schema): void {
  // Schemas that it embeds may not be complete yet.
  let known: readonly InnerMap[] | undefined;
  const leaveOutOnce = markOwn(function (this: Query<unknown, unknown>): void {
    const maps = known ??= innerMaps(schema, { prefix: "", around: [], within: [] });
    if (maps.length === 0) return;
    const fields = this.projection() ?? {};
    if (Object.entries(fields).some(([path, value]) => isDefining(path, value))) return;
    for (const { path, around } of maps) {
      if (!around.some((each) => `+${each}` in fields)) this.select(`+${path}`);
    }
  });
  schema.pre(/^find/, leaveOutOnce);
}

/** Whether a part of a projection decides what becomes of the paths that it does not name. */
function isDefining(path: string, value: unknown): boolean {
  return !path.startsWith("+") && typeof value !== "object";
}

interface Embedded {
  readonly prefix: string;
  readonly around: readonly string[];
  readonly within: readonly Schema[];
}

function innerMaps(schema: Schema, { prefix, around, within }: Embedded): InnerMap[] {
  if (within.includes(schema)) return [];
  const found: InnerMap[] = [];
  schema.eachPath((name: string, type: SchemaType) => {
    if (name.includes("$*")) return;
    const path = `${prefix}${name}`;
    const unselected = type.options.select === false;
    if (type.instance === "Map") {
      if (unselected && around.length > 0) found.push({ path, around });
      return;
    }
    const { schema: inner } = type as { readonly schema?: Schema };
    if (inner === undefined) return;
    found.push(...innerMaps(inner, {
      prefix: `${path}.`,
      around: unselected ? [...around, path] : around,
      within: [...within, schema],
    }));
  });
  return found;
}
