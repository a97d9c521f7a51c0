import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import { ApiError } from "../api_error.ts";
import { type AnyResource, makeResource } from "../operations/make_resource.ts";
import { Operations } from "../operations/operations.ts";
import { routePath } from "../operations/route_path.ts";
import type { CallOptions, Incoming, Outgoing, Send } from "../sending/send_request.ts";
import { toJson } from "../sending/to_json.ts";
import type { Resource } from "../types/resource.ts";

/** The batch that the function of {@linkcode Api.batch} fills with operations. */
export interface Batch {
  /**
   * Returns the resource of a route, whose operations are added to the batch instead of sent. Their options `signal`
   * and `timeoutMS` have an effect in `batch()` only.
   *
   * @typeParam M The model of the route, imported as a type.
   */
  resource<M extends FrameworkModel>(path: string): Resource<M>;
  /**
   * Returns a placeholder for a value in the answer to an earlier operation, such as a new identifier. It can stand for
   * a whole value of a body or an identifier, but not in a longer string.
   *
   * @throws {TypeError} If the promise does not belong to an operation of the batch.
   */
  value<T extends object, K extends keyof T & string>(operation: Promise<T>, key: K): T[K];
}

/** @internal */
export interface BatchCallOptions extends Omit<CallOptions, "parameters"> {
  /**
   * The path on the server to which the client sends batches. It must be the option `batch.path` of `initialize()`.
   *
   * @default {"/batch"}
   */
  readonly path?: string | undefined;
}

interface BatchRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface BatchResponse {
  readonly status: number;
  readonly headers: HeadersInit;
  readonly body?: unknown;
}

/** The client sets these headers, but the server refuses them inside of a batch, so the batch leaves them out. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["content-type", "cache-control"]);

class CollectedBatch implements Batch {
  readonly requests: BatchRequest[] = [];
  /**
   * The promises of all operations. The application may return only some, but the batch must fail if any operation
   * cannot be sent.
   */
  readonly operations: Promise<unknown>[] = [];
  readonly #answered: ((incoming: Incoming) => void)[] = [];
  readonly #indexes = new WeakMap<object, number>();
  /** Maps each placeholder, a random string, to its value, such as `0._id`. */
  readonly #names = new Map<string, string>();
  readonly #root: string;
  isSent = false;

  constructor(root: string) {
    this.#root = root;
  }

  resource<M extends FrameworkModel>(path: string): Resource<M> {
    const list = new Operations(this.#add, this.#root + routePath(path));
    return this.#watched(makeResource(list)) as unknown as Resource<M>;
  }

  value<T extends object, K extends keyof T & string>(operation: Promise<T>, key: K): T[K] {
    const index = this.#indexes.get(operation);
    if (index === undefined) {
      throw new TypeError(
        "Cannot name the value: the promise belongs to no operation of the batch",
      );
    }
    const text = crypto.getRandomValues(new Uint32Array(4)).join("-");
    this.#names.set(text, `${index}.${key}`);
    return text as T[K];
  }

  resolve(responses: readonly BatchResponse[]): void {
    for (const [index, { status, headers, body }] of responses.entries()) {
      this.#answered[index]?.({ status, headers: new Headers(headers), body });
    }
  }

  readonly #add: Send = async ({ method, url, headers, body, bytes, keep }: Outgoing) => {
    if (this.isSent) throw new Error("Cannot add an operation: the batch has been sent");
    if (bytes !== undefined || keep !== undefined) {
      throw new TypeError("Cannot add the operation: a batch has no files and no live lists");
    }
    const [path = "", query = ""] = url.slice(this.#root.length).split(/\?(.*)/s);
    if (this.#isIn(query)) {
      throw new TypeError("Cannot add the operation: a filter cannot have a value of the batch");
    }
    const named = path.split("/").map((segment) => {
      const name = this.#names.get(segment);
      return name === undefined ? segment : `{${name}}`;
    }).join("/");
    const request = {
      id: String(this.requests.length),
      method,
      path: query === "" ? named : `${named}?${query}`,
      headers: Object.fromEntries([...headers].filter(([name]) => !OWN_HEADERS.has(name))),
      ...body && { body: this.#withNames(body) },
    };
    // Inside of a longer string, the server would store the placeholder instead of the earlier value.
    if (this.#isIn(JSON.stringify(request))) {
      throw new TypeError(
        "Cannot add the operation: a value of the batch stands for a whole value of a body or for an identifier",
      );
    }
    this.requests.push(request);
    return await new Promise<Incoming>((resolve) => this.#answered.push(resolve));
  };

  #isIn(text: string): boolean {
    return [...this.#names.keys()].some((each) => text.includes(each));
  }

  #withNames(body: object): unknown {
    return JSON.parse(toJson(body, "body"), (key, value) => {
      // The server replaces an object with the key `$result` by an earlier value, so a body of the application with
      // this key would lose data.
      if (key === "$result") {
        throw new TypeError('Cannot add the operation: a body of a batch has no key "$result"');
      }
      const name = this.#names.get(value);
      return name === undefined ? value : { $result: name };
    });
  }

  #watched(resource: AnyResource): AnyResource {
    const entries = Object.entries(resource).map(([name, call]) => [
      name,
      (...args: never[]) => {
        const index = this.requests.length;
        const result = call(...args);
        if (name === "part" || name === "file") return this.#watched(result as AnyResource);
        if (result instanceof Promise) {
          this.operations.push(result);
          if (this.requests.length > index) this.#indexes.set(result, index);
        }
        return result;
      },
    ]);
    return Object.fromEntries(entries);
  }
}

interface RunOptions {
  readonly root: string;
  readonly send: Send;
  readonly options: BatchCallOptions;
}

/**
 * If the request fails, the promises of the operations stay pending, because an unhandled rejection could end the
 * process.
 */
export async function runBatch(
  build: (batch: Batch) => readonly unknown[],
  { root, send, options: { path = "/batch", headers, ...options } }: RunOptions,
): Promise<unknown[]> {
  const batch = new CollectedBatch(root);
  const results = resultsOf(build, batch);
  // An operation that cannot be sent, such as an update without an identifier, must fail before the batch is sent. The
  // client therefore waits one turn of the event loop for rejections.
  await Promise.race([
    Promise.all([results, ...batch.operations]),
    new Promise((resolve) => setTimeout(resolve)),
  ]);
  if (batch.requests.length === 0) {
    throw new TypeError("Cannot send the batch: it has no operation");
  }
  const { status, body } = await send({
    method: "POST",
    url: root + routePath(path),
    headers: new Headers({
      "content-type": "application/json",
      ...Object.fromEntries(new Headers(headers)),
    }),
    body: { requests: batch.requests },
    // A batch that fails because of a lock has written nothing, so the client can send it again.
    repeatable: (incoming) => Object(incoming?.body).reason === "locked",
    options,
  });
  const { responses } = Object(body) as { readonly responses?: readonly BatchResponse[] };
  // Without an answer to each operation, some promises would stay pending forever.
  if (responses?.length !== batch.requests.length) throw new ApiError(status, body);
  batch.resolve(responses);
  return await results;
}

async function resultsOf(
  build: (batch: Batch) => readonly unknown[],
  batch: CollectedBatch,
): Promise<unknown[]> {
  let built: unknown;
  try {
    built = build(batch);
  } finally {
    batch.isSent = true;
  }
  if (Array.isArray(built)) return await Promise.all(built);
  Promise.resolve(built).catch(() => {});
  throw new TypeError("Cannot send the batch: its function returns no list of promises");
}
