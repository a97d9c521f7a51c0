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
export function serveCrud(crud: Crud, kind: HookKind): Express {
  const app = express();
  app.use(express.json({ limit: LARGEST_BODY }));
  for (const name of data.COLLECTIONS.keys()) {
    app.get(`/${name}`, async (_req, res) => {
      res.json(await crud.list(name));
    });
    app.get(`/${name}/:id`, async (req, res) => {
      sendOne(res, await crud.one(name, req.params.id));
    });
    app.post(`/${name}`, async (req, res) => {
      res.status(201).json(await crud.create(name, req.body));
    });
    app.patch(`/${name}/:id`, async (req, res) => {
      sendOne(res, await crud.update(name, req.params.id, req.body));
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
  serveGuarded(app, crud, kind);
  return app;
}

/** Serves the routes whose entities pass a hook. */
function serveGuarded(app: Express, crud: Crud, kind: HookKind): void {
  for (const name of data.GUARDED) {
    const path = `/${data.guarded(kind, name)}`;
    app.get(path, async (_req, res) => {
      res.json(keepAllStarred(await crud.list(name)));
    });
    app.get(`${path}/:id`, async (req, res) => {
      const item = await crud.one(name, req.params.id);
      sendOne(res, item && keepStarred(item));
    });
    app.post(path, async (req, res) => {
      if (keepStarred(req.body) === null) res.status(403).json({});
      else res.status(201).json(await crud.create(name, req.body));
    });
    app.patch(`${path}/:id`, async (req, res) => {
      const item = await crud.update(name, req.params.id, req.body, keepStarred);
      sendOne(res, item && keepStarred(item));
    });
  }
  app.get(`/${data.guarded(kind, data.PAGED)}`, async (req, res) => {
    res.json(keepAllStarred(await crud.page(readPageQuery(req.query))));
  });
}

function sendOne(res: Response, item: object | null): void {
  res.status(item ? 200 : 404).json(item);
}
