/** Mongrove, as its README shows it. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import { Framework } from "../../mod.ts";
import { COLLECTIONS, HOOK_KINDS, type HookKind, itemsOf, TARGETS } from "../plan/collections.ts";
import { GUARDED } from "../plan/hooks.ts";
import type { ModelClass } from "../../mod.ts";
import type { Feature } from "../plan/scenarios.ts";
import { listen } from "./support/listen.ts";
import { connectMongoose } from "./support/mongoose_item.ts";
import { guardedItem, hookedItem, itemClass, leanHookedItem } from "./support/mongrove_items.ts";
import { groupedItems } from "./support/mongrove_groups.ts";
import { writtenItems } from "./support/mongrove_writes.ts";
import { guardedPage, pagedModels } from "./support/mongrove_pages.ts";
import { wideModels } from "./support/mongrove_wide.ts";
import { LARGEST_BODY, modelCount } from "./support/settings.ts";

/** The models that are measured, or as many as are asked for, the one that is read the last. */
function chooseModels(): ModelClass[] {
  const count = modelCount();
  if (count === 0) return [...[...COLLECTIONS.keys()].map(itemClass), hookedItem()];
  const others = Array.from({ length: count - 1 }, (_, index) => itemClass(`others${index}`));
  return [...others, itemClass(itemsOf(TARGETS))];
}

/** Mounts what not every version of Mongrove has; one that lacks it does not take part. */
function mountLater(models: () => ModelClass[], features: Feature[]): Feature[] {
  try {
    app.use(Framework.initialize({ models: models() }));
    return features;
  } catch (error) {
    if (error instanceof TypeError) return [];
    throw error;
  }
}

function guardedModels(kind: HookKind): ModelClass[] {
  return [...GUARDED.map((name) => guardedItem(kind, name)), guardedPage(kind)];
}

await connectMongoose();
const app = express();
app.use(express.json({ limit: LARGEST_BODY }));
app.use(Framework.initialize({ models: chooseModels() }));
listen(app, [
  "hook",
  ...mountLater(() => [leanHookedItem()], ["lean-hook"]),
  ...HOOK_KINDS.flatMap((kind) => mountLater(() => guardedModels(kind), [kind])),
  ...mountLater(pagedModels, ["page", "populate", "deep"]),
  ...mountLater(wideModels, ["wide"]),
  ...mountLater(groupedItems, ["groups"]),
  // A standalone server has no transactions, and does not let them start.
  ...mountLater(writtenItems, ["writes"]),
]);
