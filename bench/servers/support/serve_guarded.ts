import type { Express, Response } from "express-types";
import { guarded, type HookKind } from "../../plan/collections.ts";
import { GUARDED } from "../../plan/hooks.ts";
import { PAGED } from "../../plan/ranked.ts";
import type { Crud } from "./crud.ts";
import { keepAllStarred, keepStarred, type Starred } from "./hook.ts";
import { readPageQuery } from "./page_query.ts";

/** Serves what Mongrove's routes with a hook serve, as people write it by hand: each entity passes the hook. */
export function serveGuarded(app: Express, crud: Crud, kind: HookKind): void {
  for (const name of GUARDED) {
    const path = `/${guarded(kind, name)}`;
    app.get(path, async (_req, res) => {
      res.json(keepAllStarred(await crud.list(name)));
    });
    app.get(`${path}/:id`, async (req, res) => sendKept(res, await crud.one(name, req.params.id)));
    app.post(path, async (req, res) => {
      if (keepStarred(req.body) === null) res.status(403).json({});
      else res.status(201).json(await crud.create(name, req.body));
    });
    app.patch(`${path}/:id`, async (req, res) => {
      sendKept(res, await crud.update(name, req.params.id, req.body, keepStarred));
    });
  }
  app.get(`/${guarded(kind, PAGED)}`, async (req, res) => {
    res.json(keepAllStarred(await crud.first(readPageQuery(req.query))));
  });
}

function sendKept(res: Response, item: Starred | null): void {
  const kept = item && keepStarred(item);
  res.status(kept ? 200 : 404).json(kept);
}
