import type { Response } from "express-types";
import type { Socket } from "node:net";
import type { JsonPiece } from "../../json/bytes/json_writer.ts";
import type { Found } from "../pieces.ts";
import type { Frame } from "./frame.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

export interface Reply {
  readonly status: 200 | 201 | 204 | 207;
  readonly text?: string | Uint8Array;
  /**
   * The chunks of a list that is sent while it is read. Only a list without hooks has this property, because the status
   * of the answer cannot change to an error after the first chunk.
   */
  readonly texts?: AsyncIterable<JsonPiece>;
  readonly gathered?: readonly JsonPiece[];
  /**
   * The lines of an answer that is sent while an import runs. The lines of a batch are sent to the client before the
   * next batch is stored.
   */
  readonly lines?: AsyncIterable<string>;
  /**
   * The function that ends `lines` early. A server that closes calls this function, because a long import would
   * otherwise keep the server open.
   */
  readonly stop?: () => void;
  /** The format of a list, such as CSV. The default is a JSON array. */
  readonly frame?: Frame | undefined;
  /** The size and the page of the list that was read, from which features make headers such as `Link`. */
  readonly found?: Found;
  /**
   * The function of a feature that sends the whole answer, such as a live list or a file. Missing if the framework sends
   * the answer.
   */
  readonly takeOver?: (res: Response) => Promise<void>;
  /** Whether the answer stays open, as a live list does, so that a closing server refuses the request with a 503. */
  readonly staysOpen?: boolean;
  /**
   * The version of the one entity that the answer shows. The `ETag` of the answer contains this version. `null` if the
   * entity has no version.
   */
  readonly version?: number | null;
  /**
   * The identifier of the document to which `version` belongs, if the path may lead to another document later. The
   * `ETag` contains a hash of this identifier, so that a tag of the earlier document is not accepted for the later one.
   */
  readonly parentId?: string | undefined;
  /**
   * The number of entities that the removal of many entities has removed, for class options with work after it. Missing
   * for other operations.
   */
  readonly affected?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The identifier of the entity that the request has created, for the header `Location`. The text is empty if the path
   * of the entity has no identifier, because the parent holds only one entity.
   */
  readonly created?: string;
}

/**
 * Returns the path of a request without slashes at its end, from which URLs in answers are built. Several slashes at
 * the beginning become one slash, because a client would read `//name` in the header `Location` as another host.
 */
export function pathOf({ baseUrl, path }: FrameworkRequest): string {
  const whole = `${baseUrl}${path}`.replace(/^[/\\]+/, "/");
  let end = whole.length;
  while (whole[end - 1] === "/") end--;
  return whole.slice(0, end);
}

/** Whether a reply can no longer be sent, because a hook has ended the response or the client has disconnected. */
export function isOver({ res, socket }: FrameworkRequest): boolean {
  // With request pipelining, a response may wait for the end of an earlier response. If the connection closes, Node
  // does not destroy the waiting response, so the socket is checked too.
  return (res !== undefined && hasEnded(res)) || res?.destroyed === true ||
    socket?.destroyed === true;
}

/**
 * The callbacks to run when a connection closes, by its socket. One listener on the socket serves all of its requests,
 * so that pipelined requests do not add listeners to the socket.
 */
const closeCallbacks = new WeakMap<Socket, Set<() => void>>();

/**
 * Calls a function when a connection closes, and returns a function that cancels the call. The event `close` of a
 * response is not enough, because Node does not emit it for a response that waits for the end of an earlier response
 * (request pipelining).
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
 * The responses whose `end()` was called, although middleware may end them later. The framework writes nothing more to
 * them.
 */
const ended = new WeakSet<object>();

/**
 * Replaces `end()` of a response by a function that also records the call, so that `hasEnded()` is correct at once.
 * Middleware that compresses answers or stores sessions has replaced `end()` too, and ends the response only later.
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
