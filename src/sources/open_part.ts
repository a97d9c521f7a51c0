import type { Model } from "mongoose";
import type { PartLink } from "../schema/describe_parts.ts";
import type { ModelClass } from "../declare/model/model_class.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { embeddedModel } from "../schema/embedded_model.ts";
import type { CollectionSourceOptions } from "./collection_source.ts";
import { ElementSource } from "./element_source.ts";
import type { Place } from "./parts/place.ts";
import { ReferenceSource } from "./reference_source.ts";
import type { Source } from "./source.ts";
import { storedList } from "./parts/stored_list.ts";

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
  const stored = await readHeld(place, parent, link.property, settings);
  const ids = identifiersIn(link.array ? storedList(stored) : [stored], await model());
  return new ReferenceSource({ ...settings, ...held, model, ids });
}

/** What a parent holds: as it was read, or from the database where a hook has left it out. */
async function readHeld(
  place: Place,
  parent: object,
  property: string,
  { patience, maxTimeMS }: Pick<CollectionSourceOptions, "patience" | "maxTimeMS">,
): Promise<unknown> {
  if (!isDocument(parent)) {
    if (Object.hasOwn(parent, property)) return (parent as Record<string, unknown>)[property];
  } else if (parent.isSelected(property) && !parent.populated(property)) {
    return parent.get(property);
  }
  const stages = [...place.stages(), { $project: { [property]: 1 } }];
  const work = place.model.collection.aggregate(stages as never, { maxTimeMS }).toArray();
  const [found] = await patience.wait(work);
  return found?.[property];
}

/** The identifiers among values. What is none leads nowhere. */
function identifiersIn(values: readonly unknown[], { schema }: Model<unknown>): unknown[] {
  return values.flatMap((value) => {
    if (value === null || value === undefined) return [];
    try {
      return [schema.path("_id").cast(value, null as never, false)];
    } catch {
      return [];
    }
  });
}
