import { request, type RequestOptions } from "../../harness/request.ts";

export const TASK = "6a5f1c2a9b1e8a0012a4d001";
export const NOTE = "6a5f1c2a9b1e8a0012a4d002";
export const TAG = "6a5f1c2a9b1e8a0012a4d003";
export const STEP = "6a5f1c2a9b1e8a0012a4d004";
export const PLAN = "6a5f1c2a9b1e8a0012a4d005";

/** The title of stored and of sent entities, by which an answer shows that its caller has reached them. */
export const TITLE = "Alien";

/** The state that bodies set. */
export const SET = "set";

/** What bodies set before a request that shows or sets back former values. */
export const OLD = "old";

/** What a way gets: who sends the request, and whether its body sets the state. */
export interface Caller {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly setsState: boolean;
}

/** A way to an entity, which is a row of the table. */
export interface Way {
  readonly label: string;
  /** The operation whose hooks are those of the way itself. */
  readonly own?: string;
  /** The route, as `describe()` names it. */
  readonly route?: string;
  /** The path of the router. */
  readonly base?: string;
  /** The class whose entities the way reaches by itself. */
  readonly reached?: "all" | "step";
  /** A request that is sent before, by somebody who may do everything. */
  readonly before?: Send;
  readonly send: Send;
}

type Send = (caller: Caller) => Promise<string>;

const LINES = "application/x-ndjson";

function fill(path: string): string {
  return path.replace("/tasks/:id", `/tasks/${TASK}`).replace("/plans/:id", `/plans/${PLAN}`)
    .replace("/steps/:id", `/steps/${STEP}`).replace("notes/:subId", `notes/${NOTE}`)
    .replace("tags/:subId", `tags/${TAG}`);
}

type Options = RequestOptions & { readonly query?: string };

function sender(method: string, path: string, options: Options | ((caller: Caller) => Options)) {
  return async (caller: Caller) => {
    const { query = "", headers, ...others } = typeof options === "function"
      ? options(caller)
      : options;
    const all = { ...caller.headers, ...headers };
    const { text } = await request(caller.url + fill(path) + query, {
      ...others,
      method,
      headers: all,
    });
    return text;
  };
}

const bodyOf = ({ setsState }: Caller) => ({ title: TITLE, ...setsState && { state: SET } });
const withBody = (caller: Caller) => ({ body: bodyOf(caller) });
const withFile: Options = { raw: TITLE, headers: { "content-type": "text/plain" } };
const onAll = `?q=${encodeURIComponent(JSON.stringify({}))}`;

function way(
  label: string,
  route: string,
  options: Options | ((caller: Caller) => Options) = {},
  before?: Send,
): Way {
  const [method = "", path = ""] = route.split(" ");
  return { label, route, send: sender(method, path, options), ...before && { before } };
}

/** Names the hooks of ways that are their own: those of the operation in the label. */
function group(kind: string, prefix: string, ways: readonly Way[]): Way[] {
  return ways.map((each) => {
    const [, name] = /^`(\w+)\(/.exec(each.label) ?? [];
    return { ...each, label: `${kind}${each.label}`, ...name && { own: `${prefix}${name}` } };
  });
}

/** The way through the router whose `strict` has no guards. */
const loosely = (each: Way): Way => ({
  ...each,
  label: `${each.label} without strict guards`,
  base: "/loose",
});

const removed = sender("DELETE", "/tasks/:id", {});
const changed = sender("PATCH", "/tasks/:id", {
  body: { title: OLD, secret: OLD, state: OLD },
});
const changedAndRemoved = async (caller: Caller) => {
  await changed(caller);
  return await removed(caller);
};
const trash = { query: "?trash=only" };
const keyed = (caller: Caller) => ({
  body: bodyOf({ ...caller, setsState: false }),
  headers: { "idempotency-key": "8e03978e" },
});

async function listen({ url, headers }: Caller): Promise<string> {
  const controller = new AbortController();
  const { body } = await fetch(`${url}/tasks`, {
    headers: { ...headers, accept: "text/event-stream" },
    signal: controller.signal,
  });
  let text = "";
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes("event: ready") || !text.startsWith("event")) break;
  }
  controller.abort();
  return text;
}

function tool(name: string, args: (caller: Caller) => object): Send {
  return sender("POST", "/mcp", (caller) => ({
    headers: { "mcp-protocol-version": "2025-11-25" },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: { model: "Task", ...args(caller) } },
    },
  }));
}

const file = "/tasks/:id/file";
const noteFile = "/tasks/:id/notes/:subId/file";
const updateNote = way("`update()`", "PATCH /tasks/:id/notes/:subId", withBody);
const updateTag = way("`update()`", "PATCH /tasks/:id/tags/:subId", withBody);
const putFile = way("`replace()`", `PUT ${file}`, withFile);

/** The ways, in the order of the table. */
export const WAYS: readonly Way[] = [
  ...group("", "", [
    way("`all()`", "GET /tasks"),
    way("`one()`", "GET /tasks/:id"),
    { label: "`all({ live: true })`", send: listen },
    { label: "`all()` by MCP", send: tool("list", () => ({})) },
    way("`create()`", "POST /tasks", withBody),
    way("`create({ many })`", "POST /tasks", (caller) => ({ body: [bodyOf(caller)] })),
    way("`update()`", "PATCH /tasks/:id", withBody),
    way("`replace()`", "PUT /tasks/:id", withBody),
    {
      label: "`update()` by MCP",
      send: tool("update", (caller) => ({ id: TASK, body: bodyOf(caller) })),
    },
    way("`updateAll()`", "PATCH /tasks", (caller) => ({ ...withBody(caller), query: onAll })),
    way("`remove()`", "DELETE /tasks/:id"),
    way("`removeAll()`", "DELETE /tasks", { query: onAll }),
  ]),
  { ...way("action on one", "POST /tasks/:id/close"), own: "close" },
  { ...way("action on all", "GET /tasks/titles"), own: "titles" },
  ...group("part: ", "notes.", [
    way("`all()`", "GET /tasks/:id/notes"),
    way("`one()`", "GET /tasks/:id/notes/:subId"),
    way("`create()`", "POST /tasks/:id/notes", withBody),
    updateNote,
    way("`remove()`", "DELETE /tasks/:id/notes/:subId"),
    way("`removeAll()`", "DELETE /tasks/:id/notes", { query: onAll }),
    loosely(updateNote),
  ]),
  ...group("reference: ", "tags.", [
    way("`all()`", "GET /tasks/:id/tags"),
    way("`one()`", "GET /tasks/:id/tags/:subId"),
    way("`create()`", "POST /tasks/:id/tags", withBody),
    updateTag,
    way("`remove()`", "DELETE /tasks/:id/tags/:subId"),
    way("`removeAll()`", "DELETE /tasks/:id/tags", { query: onAll }),
    loosely(updateTag),
  ]),
  ...group("file: ", "file.", [
    way("`one()`", `GET ${file}`, {}, putFile.send),
    putFile,
    way("`remove()`", `DELETE ${file}`, {}, putFile.send),
    loosely(putFile),
  ]),
  ...group("file of a part: ", "note.file.", [
    way("`one()`", `GET ${noteFile}`, {}, sender("PUT", noteFile, withFile)),
    way("`replace()`", `PUT ${noteFile}`, withFile),
    way("`remove()`", `DELETE ${noteFile}`, {}, sender("PUT", noteFile, withFile)),
  ]),
  way("`GET …/history`", "GET /tasks/:id/history", {}, changed),
  way("`POST …/revert`", "POST /tasks/:id/revert", { body: { version: 0 } }, changed),
  way("`GET …?trash=only`", "GET /tasks", trash, removed),
  way("`GET …/:id?trash=only`", "GET /tasks/:id", trash, removed),
  way("`GET …/history?trash=only`", "GET /tasks/:id/history", trash, changedAndRemoved),
  way("`POST …/restore`", "POST /tasks/:id/restore", {}, removed),
  way(
    "`POST …/restore` with `trash: { restore }`",
    "POST /plans/:id/restore",
    {},
    sender("DELETE", "/plans/:id", {}),
  ),
  way("`DELETE …/:id?trash=only`", "DELETE /tasks/:id", trash, removed),
  way("`DELETE …?trash=only`", "DELETE /tasks", { query: `${onAll}&trash=only` }, removed),
  { label: "cascade to a step", reached: "step", send: removed },
  {
    ...way("import of lines", "POST /tasks", (caller) => ({
      raw: JSON.stringify(bodyOf(caller)),
      headers: { "content-type": LINES },
    })),
    own: "create",
  },
  way("repeated `Idempotency-Key`", "POST /tasks", keyed, sender("POST", "/tasks", keyed)),
  {
    label: "`update()` in a batch",
    own: "update",
    send: sender("POST", "/batch", (caller) => {
      const path = `/tasks/${TASK}`;
      return { body: { requests: [{ id: "a", method: "PATCH", path, body: bodyOf(caller) }] } };
    }),
  },
  {
    label: "`populate` of a task",
    send: sender("GET", "/steps/:id", { query: "?populate=task" }),
  },
  {
    label: "`exists` of a task",
    send: sender("POST", "/steps", { body: { title: "Step", task: TASK } }),
  },
  { label: "`Framework.queryFor()`", send: sender("GET", "/own", {}) },
];
