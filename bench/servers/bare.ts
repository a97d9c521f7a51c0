/**
 * The baseline: `node:http`, the driver and `JSON.stringify`, the fastest thing that people write
 * by hand.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HOOKED, itemsOf, LEAN_HOOKED, TARGETS } from "../plan/collections.ts";
import { PAGED, POPULATED } from "../plan/ranked.ts";
import { openDriver } from "./support/driver_crud.ts";
import { keepAllStarred } from "./support/hook.ts";
import { listen } from "./support/listen.ts";
import { type PageQuery, readPageQuery } from "./support/page_query.ts";

const crud = await openDriver();

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [path = "", search] = (req.url ?? "").split("?");
  const [, name = "", id] = path.split("/");
  if (req.method === "POST") return send(res, 201, await crud.create(name, await readJson(req)));
  if (name === HOOKED || name === LEAN_HOOKED) {
    return send(res, 200, keepAllStarred(await crud.list(itemsOf(TARGETS))));
  }
  if (name === PAGED) {
    const { items, total } = await crud.page(readQuery(search));
    return send(res, 200, items, { "x-total-count": total });
  }
  if (name === POPULATED) return send(res, 200, await crud.populated(readQuery(search)));
  if (id === undefined) return send(res, 200, await crud.list(name));
  const item = req.method === "PATCH"
    ? await crud.update(name, id, await readJson(req))
    : await crud.one(name, id);
  send(res, item ? 200 : 404, item);
}

async function readJson<T>(req: IncomingMessage): Promise<T> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of req) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function readQuery(search: string = ""): PageQuery {
  return readPageQuery(Object.fromEntries(new URLSearchParams(search)));
}

function send(res: ServerResponse, status: number, value: unknown, headers: object = {}): void {
  const text = JSON.stringify(value);
  res.writeHead(status, {
    ...headers,
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(text),
  });
  res.end(text);
}

function refuse(res: ServerResponse, error: unknown): void {
  console.error(error);
  send(res, 500, {});
}

listen((req, res) => {
  answer(req, res).catch((error) => refuse(res, error));
}, ["hook", "lean-hook", "page", "populate", "wide"]);
