/** Mongrove, as its README shows it. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import { Framework } from "../../mod.ts";
import { COLLECTIONS, HOOK_KINDS, itemsOf, TARGETS } from "../plan/collections.ts";
import { GUARDED } from "../plan/hooks.ts";
import type { FrameworkRouter, ModelClass } from "../../mod.ts";
import type { Feature } from "../plan/scenarios.ts";
import { listen } from "./support/listen.ts";
import { connectMongoose } from "./support/mongoose_item.ts";
import { guardedItems, hookedItem, itemClass, leanHookedItem } from "./support/mongrove_items.ts";
import { groupedItems } from "./support/mongrove_groups.ts";
import { writtenItems } from "./support/mongrove_writes.ts";
import { pagedModels } from "./support/mongrove_pages.ts";
import { wideModels } from "./support/mongrove_wide.ts";
import { LARGEST_BODY, modelCount } from "./support/settings.ts";

/** The models that are measured, or as many as are asked for, the one that is read the last. */
function chooseModels(): ModelClass[] {
  const count = modelCount();
  if (count === 0) return [...[...COLLECTIONS.keys()].map(itemClass), hookedItem()];
  const others = Array.from({ length: count - 1 }, (_, index) => itemClass(`others${index}`));
  return [...others, itemClass(itemsOf(TARGETS))];
}

const models = [
  ...chooseModels(),
  leanHookedItem(),
  ...guardedItems(GUARDED),
  ...pagedModels(),
  ...wideModels(),
  ...groupedItems(),
];
const features: Feature[] = [
  ...["hook", "lean-hook", "page", "populate", "deep", "wide", "groups"] as const,
  ...HOOK_KINDS,
];

/** Mounts all at once, as an application does. */
function mount(): FrameworkRouter {
  try {
    const router = Framework.initialize({ models: [...models, ...writtenItems()] });
    features.push("writes");
    return router;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // A standalone server has no transactions, and writes of many do not start.
    return Framework.initialize({ models });
  }
}

await connectMongoose();
const app = express();
app.use(express.json({ limit: LARGEST_BODY }));
app.use(mount());
listen(app, features);
