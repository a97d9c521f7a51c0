import type { Version } from "../schema/fields/system_fields.ts";

/** The entity has the form in which a read returns it. */
export interface SavedEntity {
  readonly entity: object;
  /**
   * The version of the document that embeds the entity. Missing for other entities, which have a version themselves.
   */
  readonly version?: Version | undefined;
}
