import { isJsonObject } from "../../schema/fields/json.ts";
import { storedList, type StoredObject, storedText } from "../values.ts";
import type { PartSegment } from "./part_path.ts";

/** A single object stored in place of a list becomes its only element. */
export function entityIn(
  copy: StoredObject,
  steps: readonly PartSegment[],
): StoredObject | undefined {
  let at = copy;
  for (const { property, id } of steps) {
    let inner = at[property];
    if (id !== undefined) {
      const text = storedText(id);
      const list = at[property] = storedList(inner);
      inner = list.find((each) => isJsonObject(each) && storedText(each._id) === text);
    }
    if (!isJsonObject(inner)) return undefined;
    at = inner as StoredObject;
  }
  return at;
}
