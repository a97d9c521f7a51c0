import type { Problems } from "../../errors/refusals.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { rememberShape } from "../../schema/fields/shape.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { BodyCast } from "./cast_body.ts";
import type { NamedReference } from "./cast_body.ts";
import { DocumentTarget } from "./document_target.ts";
import { ObjectTarget } from "./object_target.ts";

export interface Merged {
  readonly entity: object;
  /** The values of the body that cannot be cast. */
  readonly problems?: Problems;
  /** The references of the body that have to be checked. */
  readonly references: readonly NamedReference[];
}

/**
 * Merges a body into an entity: a document of Mongoose, or an object of another database.
 *
 * @returns The document, or a copy of the object, and the values that cannot be cast, if there are any.
 */
export function mergeBody(
  entity: object,
  { body, shape }: { readonly body: JsonObject; readonly shape: Shape },
): Merged {
  const cast = new BodyCast();
  const holder = { entity };
  const target = isDocument(entity)
    ? new DocumentTarget({ doc: entity, path: "" }, { cast, root: entity })
    : new ObjectTarget({ holder, key: "entity" }, { cast });
  target.mergeFields(body, shape);
  return {
    entity: isDocument(entity) ? entity : rememberShape(holder.entity, shape),
    references: [...cast.references.values()],
    ...cast.hasProblems && { problems: cast.problems },
  };
}
