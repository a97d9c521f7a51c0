/** Express, route by route, as people write it by hand. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import type { Express, Response } from "express-types";
import * as data from "../data.ts";
import type { HookKind, ItemBody } from "../data.ts";
import { keepAllStarred, keepStarred, LARGEST_BODY, readPageQuery } from "./common.ts";
import type { PageQuery, Starred } from "./common.ts";

/** Reads and writes of the collections. Results are sent as JSON. */
export interface Crud {
  list(collection: string): Promise<Starred[]>;
  one(collection: string, id: string): Promise<Starred | null>;
  create(collection: string, body: ItemBody): Promise<object>;
  /** Changes an entity that passes the hook, and returns all of the entity, or `null`. */
  update(
    collection: string,
    id: string,
    body: Partial<ItemBody>,
    hook?: (item: Starred) => Starred | null,
  ): Promise<Starred | null>;
  /** Reads a page of the ranked entities. */
  page(query: PageQuery): Promise<Starred[]>;
  /** Counts the ranked entities. */
  count(): Promise<number>;
  /** Reads a page of the ranked entities, each with its writer. */
  populated(query: PageQuery): Promise<readonly object[]>;
}

/** Returns an application that serves the collections. Its hooks get entities of this kind. */
export function serveCrud(crud: Crud, ...kinds: readonly HookKind[]): Express {
  const app = express();
  app.use(express.json({ limit: LARGEST_BODY }));
  for (const name of data.COLLECTIONS.keys()) serveItems(app, crud, { route: name, name });
  for (const kind of kinds) {
    for (const name of data.GUARDED) {
      serveItems(app, crud, { route: data.guarded(kind, name), name, hook: keepStarred });
    }
    app.get(`/${data.guarded(kind, data.PAGED)}`, async (req, res) => {
      res.json(keepAllStarred(await crud.page(readPageQuery(req.query))));
    });
  }
  for (const name of data.FIELD_COUNTS.map(data.wideOf)) {
    app.get(`/${name}`, async (_req, res) => {
      res.json(await crud.list(name));
    });
  }
  app.get(`/${data.PAGED}`, async (req, res) => {
    const [items, total] = await Promise.all([crud.page(readPageQuery(req.query)), crud.count()]);
    res.set("X-Total-Count", String(total)).json(items);
  });
  app.get(`/${data.POPULATED}`, async (req, res) => {
    res.json(await crud.populated(readPageQuery(req.query)));
  });
  return app;
}

interface Items {
  readonly route: string;
  /** The collection. */
  readonly name: string;
  /** The hook that each entity passes. */
  readonly hook?: typeof keepStarred;
}

/** Serves a collection. */
function serveItems(app: Express, crud: Crud, { route, name, hook }: Items): void {
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
