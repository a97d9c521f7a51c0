import { create, replace, rest, updateAll } from "../../../mod.ts";
import type { ModelClass } from "../../../mod.ts";
import { CHANGED, CREATED } from "../../plan/collections.ts";
import { MANY, written } from "../../plan/writes.ts";
import { Item } from "./mongrove_items.ts";

/** Makes the models whose writes are measured. */
export function writtenItems(): ModelClass[] {
  @rest({
    route: `/${written(CREATED)}`,
    methods: [create({ many: MANY })],
    schemaOptions: { collection: CREATED },
  })
  class CreatedItem extends Item {}
  @rest({
    route: `/${written(CHANGED)}`,
    methods: [updateAll({ fields: ["price"], max: MANY }), replace()],
    schemaOptions: { collection: CHANGED },
  })
  class ChangedItem extends Item {}
  return [CreatedItem, ChangedItem];
}
