import type { Schema } from "mongoose";
import { all, FrameworkModel, rest } from "../../../mod.ts";
import type { ModelClass } from "../../../mod.ts";
import { FIELD_COUNTS, wideFields, wideOf } from "../../plan/growth.ts";

/** Makes the models whose entities have more and more fields. */
export function wideModels(): ModelClass[] {
  return FIELD_COUNTS.map((count) => {
    @rest({
      route: `/${wideOf(count)}`,
      methods: [all()],
      schemaOptions: { collection: wideOf(count) },
    })
    class Wide extends FrameworkModel {
      static override configure(schema: Schema): void {
        schema.add(Object.fromEntries(wideFields(count)));
      }
    }
    return Wide;
  });
}
