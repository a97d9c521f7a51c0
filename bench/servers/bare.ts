/** The baseline: `node:http`, the driver and `JSON.stringify`. @module */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HOOKED, itemsOf, LEAN_HOOKED, PAGED, POPULATED, TARGETS } from "../data.ts";
import { keepAllStarred, listen, readPageQuery } from "./common.ts";
import { openDriver } from "./driver.ts";

const { crud } = await openDriver();

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [path = "", search] = (req.url ?? "").split("?");
  const [, name = "", id] = path.split("/");
  if (req.method === "POST") return send(res, 201, await crud.create(name, await readJson(req)));
  if (name === HOOKED || name === LEAN_HOOKED) {
    return send(res, 200, keepAllStarred(await crud.list(itemsOf(TARGETS))));
  }
  if (name === PAGED || name === POPULATED) {
    const query = readPageQuery(Object.fromEntries(new URLSearchParams(search)));
    if (name === POPULATED) return send(res, 200, await crud.page(query));
    const [items, total] = await Promise.all([crud.page(query), crud.count()]);
    return send(res, 200, items, { "x-total-count": total });
  }
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

function send(res: ServerResponse, status: number, value: unknown, headers: object = {}): void {
  const text = JSON.stringify(value);
  const length = Buffer.byteLength(text);
  const type = "application/json; charset=utf-8";
  res.writeHead(status, { ...headers, "content-type": type, "content-length": length }).end(text);
}

listen((req, res) => {
  answer(req, res).catch((error) => {
    console.error(error);
    send(res, 500, {});
  });
});
