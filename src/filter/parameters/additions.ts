import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { Filter } from "../filters.ts";

/** Remembers the conditions of a client. The function tells what hooks have added to them, or changed. */
export function additionsTo(client: Filter): (filter: Filter) => Filter {
  const before = copied(client) as Filter;
  const isClients = (key: string, value: unknown) =>
    typeof value === "object" && value === client[key] &&
    isDeepStrictEqual(copied(value), before[key]);
  const added = (filter: Filter): Filter => {
    const entries = Object.entries(filter).filter(([key, value]) => !isClients(key, value));
    return Object.fromEntries(
      entries.map(([key, value]) =>
        key === "$and" && Array.isArray(value)
          ? [key, value.map((each: unknown) => isJsonObject(each) ? added(each) : each)]
          : [key, value]
      ),
    );
  };
  return added;
}

/** Copies what JSON can say. The marks of Mongoose on conditions are no changes. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copied(each)]));
}
