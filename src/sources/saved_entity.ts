import type { Version } from "../schema/fields/system_fields.ts";

export interface SavedEntity {
  readonly entity: object;
  /** The version of the document that embeds the entity. */
  readonly version?: Version | undefined;
}
