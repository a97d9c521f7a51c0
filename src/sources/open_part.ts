import type { PartLink } from "../schema/describe_parts.ts";
import type { ModelClass } from "../model/model_class.ts";
import { isDocument } from "../mapper/bson.ts";
import { embeddedModel } from "../schema/embedded_model.ts";
import type { CollectionSourceOptions } from "./collection_source.ts";
import { ElementSource } from "./element_source.ts";
import type { Place } from "./place.ts";
import { ReferenceSource } from "./reference_source.ts";
import type { Source } from "./source.ts";

/** What a part of an entity is opened with. */
export interface OpenPartOptions extends CollectionSourceOptions {
  /** Where the parent is stored. */
  readonly place: Place;
  /** The parent, as its reader may see it. */
  readonly parent: object;
  /** How the parent holds the part. */
  readonly link: PartLink;
  /** The model of the part. */
  readonly target: ModelClass;
}

/** Opens the source of what a parent holds. */
export async function openPart(
  { place, parent, link, target, model, ...settings }: OpenPartOptions,
): Promise<Source> {
  const held = {
    parent: place,
    property: link.property,
    array: link.array,
    required: link.required,
  };
  if (link.embedded) {
    return new ElementSource({
      ...settings,
      ...held,
      model: embeddedModel(target, place.model.db),
    });
  }
  const ids = await readIds(place, parent, link.property, settings);
  return new ReferenceSource({ ...settings, ...held, model, ids });
}

/** The identifiers that a parent holds: as it was read, or from the database where a hook has left them out. */
async function readIds(
  place: Place,
  parent: object,
  property: string,
  { patience, maxTimeMS }: Pick<CollectionSourceOptions, "patience" | "maxTimeMS">,
): Promise<readonly unknown[]> {
  if (!isDocument(parent)) {
    if (Object.hasOwn(parent, property)) return list((parent as Record<string, unknown>)[property]);
  } else if (parent.isSelected(property) && !parent.populated(property)) {
    return list(parent.get(property));
  }
  const stages = [...place.stages(), { $project: { [property]: 1 } }];
  const work = place.model.collection.aggregate(stages as never, { maxTimeMS }).toArray();
  const [found] = await patience.wait(work);
  return list(found?.[property]);
}

function list(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? [...value] : [value];
}
