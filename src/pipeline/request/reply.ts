import type { Response } from "express-types";
import type { Socket } from "node:net";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Format } from "../../filter/parameters/read_rules.ts";
import type { Column } from "../lists/columns.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

export interface Reply {
  readonly status: 200 | 201 | 204 | 207;
  readonly text?: string | Uint8Array;
  /** The pieces of a list whose entities no hook can refuse. The answer may begin before the last entity is read. */
  readonly texts?: AsyncIterable<JsonPiece>;
  readonly gathered?: readonly JsonPiece[];
  /** The lines of an answer. The client gets each piece before the next one is written. */
  readonly lines?: AsyncIterable<string>;
  /** Ends `lines` early. The function is called when the server closes. */
  readonly stop?: () => void;
  readonly format?: Format | undefined;
  readonly columns?: readonly Column[];
  /** The version of the one entity that the answer shows. `null` if the entity has no version. */
  readonly version?: number | null;
  /** The identifier of the document with the version, if the path may lead to another document later. */
  readonly parentId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The identifier of the new entity, from which its path is built. The text is empty if the parent holds only one
   * entity.
   */
  readonly created?: string;
}

/** Returns the path of a request. The headers of the client never change the path. */
export function pathOf({ baseUrl, path }: FrameworkRequest): string {
  const whole = `${baseUrl}${path}`.replace(/^[/\\]+/, "/");
  let end = whole.length;
  while (whole[end - 1] === "/") end--;
  return whole.slice(0, end);
}

/** Whether a reply can no longer be sent, because a hook has ended the response or the client has disconnected. */
export function isOver({ res, socket }: FrameworkRequest): boolean {
  // With request pipelining, a response behind another one is not destroyed when its connection closes.
  return (res !== undefined && hasEnded(res)) || res?.destroyed === true ||
    socket?.destroyed === true;
}

/** The callbacks for each connection. One listener on the socket serves all requests of the connection. */
const closeCallbacks = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls a function when a connection closes. Returns a function that removes the callback. With request pipelining, a
 * response behind another one emits no event when the connection closes.
 */
export function onConnectionClose(socket: Socket, callback: () => void): () => void {
  // A host without connections has no socket that could close.
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

/** The responses whose `end()` was called, and that middleware may end later. */
const ended = new WeakSet<object>();

/**
 * Records the call of `end()`. Middleware that compresses answers or saves sessions replaces `end()`, and ends the
 * response later.
 */
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
