import { all, arrayProp, create, FrameworkModel, one, prop, rest, update } from "../../../mod.ts";
import type { FrameworkRequest, ModelClass } from "../../../mod.ts";
import { guarded, HOOKED, itemsOf } from "../../plan/collections.ts";
import { LEAN_HOOKED, TARGETS } from "../../plan/collections.ts";
import { keepStarred, type Starred } from "./hook.ts";

/** The fields, for all models. */
export abstract class Item extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ required: true })
  text!: string;
  @prop()
  author?: string;
  @prop({ type: Number })
  stars!: number;
  @prop({ type: Number })
  price?: number;
  @prop({ type: Boolean })
  published?: boolean;
  @prop({ type: Date })
  created?: Date;
  @arrayProp({ items: String })
  tags?: string[];
}

/** Makes the model of a collection, with all that is measured and no hook. */
export function itemClass(collection: string): ModelClass {
  @rest({
    route: `/${collection}`,
    methods: [all(), one(), create(), update()],
    schemaOptions: { collection },
  })
  class CollectionItem extends Item {}
  return CollectionItem;
}

/** The hook: looks at a field. */
export function look(_req: FrameworkRequest, item: Starred): Starred | null {
  return keepStarred(item);
}

/** Makes a model whose every operation has one hook, which gets documents. */
function documentsItem(collection: string): ModelClass {
  @rest({
    route: `/${guarded("documents", collection)}`,
    methods: [
      all({ postFetch: look }),
      one({ postFetch: look }),
      create({ preSave: look }),
      update({ postFetch: look }),
    ],
    schemaOptions: { collection },
  })
  class DocumentsItem extends Item {}
  return DocumentsItem;
}

/** Makes a model whose every operation has one hook, which gets plain objects. */
function leanItem(collection: string): ModelClass {
  @rest({
    route: `/${guarded("lean", collection)}`,
    methods: [all({ lean: true, postFetch: look }), one({ lean: true, postFetch: look })],
    schemaOptions: { collection },
  })
  class LeanItem extends Item {}
  return LeanItem;
}

/** Makes the models of collections that hooks guard. */
export function guardedItems(collections: readonly string[]): ModelClass[] {
  return [...collections.map(documentsItem), ...collections.map(leanItem)];
}

function preSend(_req: FrameworkRequest, item: Starred): Starred | null {
  return keepStarred(item);
}

/** Makes a model whose list goes through a hook. */
export function hookedItem(): ModelClass {
  @rest({
    route: `/${HOOKED}`,
    methods: [all({ preSend })],
    schemaOptions: { collection: itemsOf(TARGETS) },
  })
  class HookedItem extends Item {}
  return HookedItem;
}

/** Makes a model whose hook gets plain instances of the class. */
export function leanHookedItem(): ModelClass {
  const lean = { lean: true, preSend };
  // Versions of Mongrove without the option still pass the type check
  const hooks: { preSend: typeof preSend } = lean;
  @rest({
    route: `/${LEAN_HOOKED}`,
    methods: [all(hooks)],
    schemaOptions: { collection: itemsOf(TARGETS) },
  })
  class LeanHookedItem extends Item {}
  return LeanHookedItem;
}
