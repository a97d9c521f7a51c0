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
   * The chunks of a list that is sent while it is read. Only a list without hooks has them, because the status cannot
   * change to an error after the first chunk.
   */
  readonly texts?: AsyncIterable<JsonPiece>;
  readonly gathered?: readonly JsonPiece[];
  /**
   * The lines of an answer that is sent while an import runs. The lines of a batch are sent before the next batch is
   * stored.
   */
  readonly lines?: AsyncIterable<string>;
  /** Ends `lines` early. A long import would otherwise keep a closing server open. */
  readonly stop?: () => void;
  /** The default is a JSON array. */
  readonly frame?: Frame | undefined;
  readonly found?: Found;
  /** Sends the whole answer. Missing if the framework sends it. */
  readonly takeOver?: (res: Response) => Promise<void>;
  /** Whether the answer stays open, so that a closing server refuses the request with a 503. */
  readonly staysOpen?: boolean;
  /** The version of the one entity that the answer shows, for the `ETag`. `null` if the entity has no version. */
  readonly version?: number | null;
  /**
   * The identifier of the document to which `version` belongs, if the path may lead to another document later. A hash
   * of it in the `ETag` keeps a tag of the earlier document from being accepted for the later one.
   */
  readonly parentId?: string | undefined;
  /** Given only by the removal of many entities. */
  readonly affected?: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The identifier for the header `Location`. Empty if the path has no identifier, because the parent holds only one
   * entity.
   */
  readonly created?: string;
}

/**
 * Several slashes at the beginning become one slash, because a client would read `//name` in the header `Location` as
 * another host.
 */
export function pathOf({ baseUrl, path }: FrameworkRequest): string {
  const whole = `${baseUrl}${path}`.replace(/^[/\\]+/, "/");
  let end = whole.length;
  while (whole[end - 1] === "/") end--;
  return whole.slice(0, end);
}

export function isOver({ res, socket }: FrameworkRequest): boolean {
  // With request pipelining, a response may wait for the end of an earlier response. If the connection closes, Node
  // does not destroy the waiting response.
  return (res !== undefined && hasEnded(res)) || res?.destroyed === true ||
    socket?.destroyed === true;
}

/** A single listener on the socket serves all of its requests, so that pipelined requests do not add listeners. */
const closeCallbacks = new WeakMap<Socket, Set<() => void>>();

/**
 * Node does not emit the event `close` for a response that waits for the end of an earlier response (request
 * pipelining).
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
 * The `end()` of these responses was called, but middleware may end them later. The framework writes nothing more to
 * them.
 */
const ended = new WeakSet<object>();

/**
 * Middleware that compresses answers or stores sessions replaces `end()` and ends the response only later. The
 * replacement here records the call at once.
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
