import type { Response } from "express-types";
import type { Socket } from "node:net";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Format } from "../../filter/parameters/read_rules.ts";
import type { Column } from "../lists/columns.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

export interface Reply {
  readonly status: 200 | 201 | 204 | 207;
  readonly text?: string | Uint8Array;
  /** A list in pieces that no hook can refuse, so that its answer may begin before the last entity is read. */
  readonly texts?: AsyncIterable<JsonPiece>;
  readonly gathered?: readonly JsonPiece[];
  /** Whole lines that the client gets as soon as each piece is there. */
  readonly lines?: AsyncIterable<string>;
  /** Has `lines` end early: called when the server closes. */
  readonly stop?: () => void;
  readonly format?: Format | undefined;
  readonly columns?: readonly Column[];
  /** The version of the one entity that the answer shows; `null` if it has none. */
  readonly version?: number | null;
  /** The document with the version, where the path may lead to another one later. */
  readonly parentId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The name of the new entity below the path that it was created at. */
  readonly created?: string;
}

/** The path of a request. It never depends on a header of the client. */
export function pathOf({ baseUrl, path }: FrameworkRequest): string {
  const whole = `${baseUrl}${path}`.replace(/^[/\\]+/, "/");
  let end = whole.length;
  while (whole[end - 1] === "/") end--;
  return whole.slice(0, end);
}

/** Whether a reply can no longer be sent: a hook has ended the response, or the client has left. */
export function isOver({ res, socket }: FrameworkRequest): boolean {
  // A response that waits behind another one does not know that its connection has closed.
  return (res !== undefined && hasEnded(res)) || res?.destroyed === true ||
    socket?.destroyed === true;
}

/** The callbacks of each connection: one listener of the socket serves all of its requests. */
const closeCallbacks = new WeakMap<Socket, Set<() => void>>();

/** Calls back when a connection closes. A response that waits behind another one emits no event then. */
export function onConnectionClose(socket: Socket, callback: () => void): () => void {
  // Hosts without connections have no such event.
  if (typeof socket?.once !== "function") return () => {};
  let callbacks = closeCallbacks.get(socket);
  if (callbacks === undefined) {
    const all = callbacks = new Set<() => void>();
    closeCallbacks.set(socket, all);
    socket.once("close", () => {
      for (const each of [...all]) each();
    });
  }
  callbacks.add(callback);
  return () => callbacks.delete(callback);
}

/** Responses of which `end()` was called, and that middleware ends later. */
const ended = new WeakSet<object>();

/** Notes when `end()` is called: middleware that compresses answers or saves sessions ends the response later. */
export function watchEnd(res: Response): void {
  if (!Object.hasOwn(res, "end")) return;
  const end = res.end as (...args: unknown[]) => Response;
  res.end = ((...args: unknown[]) => {
    ended.add(res);
    return end.apply(res, args);
  }) as Response["end"];
}

export function hasEnded(res: Response): boolean {
  return res.writableEnded || ended.has(res);
}
