import type { Document } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { topOf } from "../../filter/filters.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { embeddedModel } from "../../schema/get_model.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import type { CollectionSourceOptions } from "../collection_source.ts";
import { castIdentifier } from "../entities.ts";
import type { Source } from "../source.ts";
import { ElementSource } from "./element_source.ts";
import { ReferenceSource, type ReferenceSourceOptions } from "./reference_source.ts";
import { type Place, stagesTo, storedList } from "./place.ts";

export interface OpenPartOptions extends CollectionSourceOptions {
  readonly place: Place;
  readonly parent: object;
  readonly link: PartLink;
  readonly target: ModelClass;
}

export async function openPart(
  { place, parent, link, target, model, ...settings }: OpenPartOptions,
): Promise<Source> {
  const options = { ...settings, parent: place, link };
  if (link.embedded) {
    return new ElementSource({ ...options, model: embeddedModel(target, place.model.db) });
  }
  const stored = await readProperty(parent, options);
  const referred = await model();
  const ids = (link.array ? storedList(stored) : [stored])
    .map((value) => castIdentifier(value, referred))
    // Other values refer to nothing.
    .filter((id) => id !== undefined && id !== null);
  return new ReferenceSource({ ...options, model, ids });
}

type PartOptions = Pick<ReferenceSourceOptions, "parent" | "link" | "maxTimeMS">;

/** Reads the property of a parent: as it was read, or from the database where a hook or Mongoose has left it out. */
async function readProperty(
  parent: object,
  { parent: place, link: { property }, maxTimeMS }: PartOptions,
): Promise<unknown> {
  if (!isDocument(parent)) {
    if (Object.hasOwn(parent, property)) return (parent as Record<string, unknown>)[property];
  } else if (isRead(parent, property)) {
    return parent.get(property);
  }
  const stages = [...stagesTo(place), { $project: { [property]: 1 } }];
  const work = place.model.collection.aggregate(stages as never, { maxTimeMS }).toArray();
  const [found] = await place.timeBudget.wait(work);
  return found?.[property];
}

/** Whether a document has what is stored. Mongoose leaves a whole list out if it cannot cast one of its values. */
function isRead(parent: Document, property: string): boolean {
  return parent.isSelected(property) && !parent.populated(property) &&
    !Object.keys(parent.errors ?? {}).some((path) => topOf(path) === property);
}
