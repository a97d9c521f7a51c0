// @ts-types="npm:@types/express@^5"
import express from "express";
import type { Express } from "express-types";
import { COLLECTIONS, HOOKED, itemsOf, LEAN_HOOKED, TARGETS } from "../../plan/collections.ts";
import { FIELD_COUNTS, wideOf } from "../../plan/growth.ts";
import { PAGED, POPULATED } from "../../plan/ranked.ts";
import type { Feature } from "../../plan/scenarios.ts";
import type { Crud } from "./crud.ts";
import { keepAllStarred } from "./hook.ts";
import { listen } from "./listen.ts";
import { serveGuarded } from "./serve_guarded.ts";
import { serveWrites } from "./serve_writes.ts";
import { LARGEST_BODY } from "./settings.ts";
import { readPageQuery } from "./page_query.ts";

/** What only some servers offer. */
interface More {
  /** Gives the models of writes. */
  readonly modelOf?: Parameters<typeof serveWrites>[1];
  /** Serves groups. */
  readonly groups?: (app: Express) => Promise<void>;
}

/**
 * Serves the collections with Express, route by route, as people write it by hand.
 *
 * @param crud Reads and writes them.
 * @param feature The hook that its lists can be measured with.
 * @param more What not every server offers.
 */
export async function serveCrud(
  crud: Crud,
  feature: Feature,
  { modelOf, groups }: More = {},
): Promise<void> {
  const app = express();
  app.use(express.json({ limit: LARGEST_BODY }));
  for (const name of COLLECTIONS.keys()) {
    app.get(`/${name}`, async (_req, res) => {
      res.json(await crud.list(name));
    });
    app.get(`/${name}/:id`, async (req, res) => {
      const item = await crud.one(name, req.params.id);
      res.status(item ? 200 : 404).json(item);
    });
    app.post(`/${name}`, async (req, res) => {
      res.status(201).json(await crud.create(name, req.body));
    });
    app.patch(`/${name}/:id`, async (req, res) => {
      const item = await crud.update(name, req.params.id, req.body);
      res.status(item ? 200 : 404).json(item);
    });
  }
  for (const name of FIELD_COUNTS.map(wideOf)) {
    app.get(`/${name}`, async (_req, res) => {
      res.json(await crud.list(name));
    });
  }
  app.get(`/${feature === "hook" ? HOOKED : LEAN_HOOKED}`, async (_req, res) => {
    res.json(keepAllStarred(await crud.list(itemsOf(TARGETS))));
  });
  app.get(`/${PAGED}`, async (req, res) => {
    const { items, total } = await crud.page(readPageQuery(req.query));
    res.set("X-Total-Count", String(total)).json(items);
  });
  app.get(`/${POPULATED}`, async (req, res) => {
    res.json(await crud.populated(readPageQuery(req.query)));
  });
  const kind = feature === "hook" ? "documents" : "lean";
  serveGuarded(app, crud, kind);
  if (modelOf) serveWrites(app, modelOf);
  await groups?.(app);
  listen(app, [
    ...[feature, kind, "page", "populate", "wide"] as const,
    ...modelOf ? ["writes"] as const : [],
    ...groups ? ["groups"] as const : [],
  ]);
}
