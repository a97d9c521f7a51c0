import type { Response } from "express-types";
import type { Socket } from "node:net";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Found } from "../pieces.ts";
import type { Frame } from "./frame.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

export interface Reply {
  readonly status: 200 | 201 | 204 | 207;
  readonly text?: string | Uint8Array;
  /** The pieces of a list whose entities no hook can refuse, so the answer may begin before the last entity is read. */
  readonly texts?: AsyncIterable<JsonPiece>;
  readonly gathered?: readonly JsonPiece[];
  /** The lines of an answer. The client gets each piece before the next one is written. */
  readonly lines?: AsyncIterable<string>;
  /**
   * Ends `lines` early. The function is called when the server closes, so that a long answer does not keep the server
   * open.
   */
  readonly stop?: () => void;
  /** The form of a list. The default is a JSON array. */
  readonly frame?: Frame | undefined;
  /** The result of the read of a list, from which features make headers. */
  readonly found?: Found;
  /** Sends the answer in the place of the framework, such as a stream that stays open. */
  readonly takeOver?: (res: Response) => Promise<void>;
  /**
   * The version of the one entity that the answer shows. The `ETag` of the answer contains this version. `null` if the
   * entity has no version.
   */
  readonly version?: number | null;
  /**
   * The identifier of the document with the version, if the path may lead to another document later. The `ETag` of the
   * answer contains a hash of the identifier, so that the tag does not fit the other document.
   */
  readonly parentId?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The identifier of the new entity, from which the header `Location` is built. The text is empty if the parent holds
   * only one entity.
   */
  readonly created?: string;
}

/**
 * Returns the path of a request. The headers of the client never change the path. Slashes at the beginning become one
 * slash, because a client would read `//name` in `Location` as another host.
 */
export function pathOf({ baseUrl, path }: FrameworkRequest): string {
  const whole = `${baseUrl}${path}`.replace(/^[/\\]+/, "/");
  let end = whole.length;
  while (whole[end - 1] === "/") end--;
  return whole.slice(0, end);
}

/** Whether a reply can no longer be sent, because a hook has ended the response or the client has disconnected. */
export function isOver({ res, socket }: FrameworkRequest): boolean {
  // With request pipelining, a response that waits behind another one is not destroyed when its connection closes, so
  // the socket is checked too.
  return (res !== undefined && hasEnded(res)) || res?.destroyed === true ||
    socket?.destroyed === true;
}

/**
 * The callbacks for each connection. One listener on the socket serves all requests of the connection, so that
 * pipelined requests do not add listeners to the socket.
 */
const closeCallbacks = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls a function when a connection closes. Returns a function that removes the callback. With request pipelining, a
 * response that waits behind another one emits no event when the connection closes, so the event `close` of the
 * response is not enough.
 */
export function onConnectionClose(socket: Socket, callback: () => void): () => void {
  // A host that serves requests without connections gives no socket that could close.
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

/**
 * The responses whose `end()` was called. Middleware may end such a response later, but the framework writes nothing
 * more to it.
 */
const ended = new WeakSet<object>();

/**
 * Records the call of `end()` of a response, so that `hasEnded()` returns `true` at once. Middleware that compresses
 * answers or saves sessions replaces `end()`, and ends the response later.
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
