/** Express, route by route, as people write it by hand. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import type { Express, Response } from "express-types";
import * as data from "../data.ts";
import type { HookKind, ItemBody } from "../data.ts";
import { keepAllStarred, keepStarred, LARGEST_BODY, type PageQuery } from "./common.ts";
import { readPageQuery, type Starred } from "./common.ts";

type Hook = typeof keepStarred;

/** Reads and writes of the collections, and pages and the number of the ranked entities. Results are sent as JSON. */
export interface Crud {
  list(name: string): Promise<Starred[]>;
  one(name: string, id: string): Promise<Starred | null>;
  create(name: string, body: ItemBody): Promise<object>;
  /** Changes an entity that passes the hook, and returns all of the entity, or `null`. */
  update(name: string, id: string, body: Partial<ItemBody>, hook?: Hook): Promise<Starred | null>;
  page(query: PageQuery): Promise<Starred[]>;
  count(): Promise<number>;
}

/** Returns an application that serves the collections. Its hooks get entities of this kind. */
export function serveCrud(crud: Crud, ...kinds: readonly HookKind[]): Express {
  const app = express();
  app.use(express.json({ limit: LARGEST_BODY }));
  for (const name of [...data.COLLECTIONS.keys(), ...data.FIELD_COUNTS.map(data.wideOf)]) {
    serveItems(app, crud, { name });
  }
  for (const kind of kinds) {
    for (const name of data.GUARDED) {
      serveItems(app, crud, { name, route: data.guarded(kind, name), hook: keepStarred });
    }
  }
  const guarded = kinds.map((kind) => data.guarded(kind, data.PAGED));
  for (const route of [data.PAGED, data.POPULATED, ...guarded]) {
    app.get(`/${route}`, async (req, res) => {
      const isCounted = req.headers.prefer === "count=exact";
      const query = readPageQuery(req.query);
      const [items, total] = await Promise.all([crud.page(query), isCounted && crud.count()]);
      if (isCounted) res.set("X-Total-Count", `${total}`);
      res.json(guarded.includes(route) ? keepAllStarred(items) : items);
    });
  }
  return app;
}

/** Serves a collection on a route. Each entity passes the hook. */
export function serveItems(
  app: Express,
  crud: Crud,
  { name, route = name, hook }: { readonly name: string; readonly route?: string; hook?: Hook },
): void {
  const send = (res: Response, item: Starred | null) => {
    const kept = item && hook ? hook(item) : item;
    res.status(kept ? 200 : 404).json(kept);
  };
  app.get(`/${route}`, async (_req, res) => {
    const items = await crud.list(name);
    res.json(hook ? keepAllStarred(items) : items);
  });
  app.get(`/${route}/:id`, async (req, res) => send(res, await crud.one(name, req.params.id)));
  app.post(`/${route}`, async (req, res) => {
    if (hook && hook(req.body) === null) res.status(403).json({});
    else res.status(201).json(await crud.create(name, req.body));
  });
  app.patch(`/${route}/:id`, async (req, res) => {
    send(res, await crud.update(name, req.params.id, req.body, hook));
  });
}
