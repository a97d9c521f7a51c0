import { all, rest } from "../../../mod.ts";
import type { ModelClass } from "../../../mod.ts";
import { itemsOf } from "../../plan/collections.ts";
import { grouped, GROUPED_SIZES } from "../../plan/groups.ts";
import { Item } from "./mongrove_items.ts";

/** Makes the models whose groups are measured. */
export function groupedItems(): ModelClass[] {
  return GROUPED_SIZES.map((size) => {
    @rest({
      route: `/${grouped(itemsOf(size))}`,
      methods: [all({
        groups: { by: ["stars", { created: "month" }], count: true, sum: ["price"] },
      })],
      schemaOptions: { collection: itemsOf(size) },
    })
    class GroupedItem extends Item {}
    return GroupedItem;
  });
}
