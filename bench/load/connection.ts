import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { type BodyMeter, ChunkedBody, SizedBody } from "./body_meter.ts";

/** An answer, as far as it is measured. */
export interface Answer {
  /** Its status. */
  readonly status: number;
  /** The bytes of its body. */
  readonly bytes: number;
  /** The time to the first byte of its body. */
  readonly firstByteMs: number;
  /** The time to its end. */
  readonly ms: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");

/** A kept-alive connection, with as little work for each request as can be. */
export class Connection {
  readonly #socket: Socket;
  #head: Uint8Array = new Uint8Array();
  #status = 0;
  #body: BodyMeter | undefined;
  #start = 0;
  #firstByte = 0;
  #waiting: PromiseWithResolvers<Answer> | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (buffer) => this.#take(buffer as Uint8Array));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed a connection")));
  }

  /** Connects to a port of the loopback interface. */
  static async open(port: number): Promise<Connection> {
    const socket = connect(port, "127.0.0.1");
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new Connection(socket);
  }

  /** Sends a request, and waits for the end of its answer. */
  request(bytes: Uint8Array): Promise<Answer> {
    const { promise, resolve, reject } = resolvers<Answer>();
    this.#waiting = { promise, resolve, reject };
    this.#head = new Uint8Array();
    this.#body = undefined;
    this.#firstByte = 0;
    this.#start = performance.now();
    this.#socket.write(bytes);
    return promise;
  }

  /** Closes it. */
  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(buffer: Uint8Array): void {
    try {
      const rest = this.#body === undefined ? this.#readHead(buffer) : buffer;
      if (this.#body === undefined) return;
      if (this.#firstByte === 0 && rest.length > 0) this.#firstByte = performance.now();
      if (this.#body.take(rest)) this.#end(this.#body.bytes);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Gives what follows the head, once that is whole. */
  #readHead(buffer: Uint8Array): Uint8Array {
    const all = this.#head.length === 0 ? buffer : Buffer.concat([this.#head, buffer]);
    this.#head = all;
    const end = Buffer.from(all.buffer, all.byteOffset, all.length).indexOf(HEAD_END);
    if (end === -1) return new Uint8Array();
    const text = Buffer.from(all.buffer, all.byteOffset, end + 2).toString("latin1");
    this.#status = Number(text.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
    this.#body = length === undefined && /\r\ntransfer-encoding: *chunked/i.test(text)
      ? new ChunkedBody()
      : new SizedBody(Number(length ?? 0));
    return all.subarray(end + HEAD_END.length);
  }

  #end(bytes: number): void {
    const now = performance.now();
    const firstByteMs = (this.#firstByte || now) - this.#start;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: this.#status, bytes, firstByteMs, ms: now - this.#start });
  }

  #fail(error: unknown): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

/** `Promise.withResolvers()`, which Node 20 lacks. */
function resolvers<T>(): PromiseWithResolvers<T> {
  let resolve!: PromiseWithResolvers<T>["resolve"];
  let reject!: PromiseWithResolvers<T>["reject"];
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
