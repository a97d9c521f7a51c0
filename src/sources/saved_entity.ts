import type { Version } from "../schema/fields/system_fields.ts";

export interface SavedEntity {
  readonly entity: object;
  /** Of the document that embeds the entity. Other entities have a version themselves. */
  readonly version?: Version | undefined;
}
