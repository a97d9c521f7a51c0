import { assert, assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import {
  Framework,
  type FrameworkRequest,
  getModel,
  type InitializeOptions,
  type ModelClass,
  type RouteDescription,
} from "../../mod.ts";
import { Appointment } from "../../examples/clinic/appointment.ts";
import { Invoice } from "../../examples/clinic/invoice.ts";
import { Patient } from "../../examples/clinic/patient.ts";
import { Prescription } from "../../examples/clinic/prescription.ts";
import { seed as seedClinic } from "../../examples/clinic/seed.ts";
import { Organisation } from "../../examples/helpdesk/organisation.ts";
import { seed as seedDesk } from "../../examples/helpdesk/seed.ts";
import { Ticket } from "../../examples/helpdesk/ticket.ts";
import { Author } from "../../examples/library/author.ts";
import { seed as seedLibrary } from "../../examples/library/seed.ts";
import { Shelf } from "../../examples/library/shelf.ts";
import { Actor } from "../../examples/movies/actor.ts";
import { SECRET_KEY } from "../../examples/movies/hooks/authenticated.ts";
import { Movie } from "../../examples/movies/movie.ts";
import { seed as seedMovies } from "../../examples/movies/seed.ts";
import { keys } from "../../src/keys/mod.ts";
import { type Exposure, mcp } from "../../src/mcp/mod.ts";
import { longTest } from "../harness/testing.ts";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { start, type Started } from "../support/support.ts";
import { toolsOf } from "../mcp/mcp.ts";
import type { MadeKey } from "./keyed.ts";

interface Example extends Pick<InitializeOptions, "tenant"> {
  readonly models: readonly ModelClass[];
  readonly seed: () => Promise<void>;
  /** The models for assistants, by default all: no tool takes a list whose hook sets pages. */
  readonly tools?: readonly ModelClass[];
  /** The owner of the keys. */
  readonly user?: string;
  /** The header by which the hooks of the example know a user. */
  readonly authorization: string;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  helpdesk: {
    models: [Ticket, Organisation],
    seed: seedDesk,
    user: "ada",
    authorization: "Bearer ada",
    tenant: () => "north",
  },
  clinic: {
    models: [Appointment, Patient, Prescription, Invoice],
    seed: seedClinic,
    authorization: "Bearer amir",
    tenant: () => "oak",
  },
  library: { models: [Shelf, Author], seed: seedLibrary, authorization: "none" },
  movies: {
    models: [Movie, Actor],
    tools: [Movie],
    seed: seedMovies,
    authorization: SECRET_KEY,
  },
};

const OPERATIONS = [
  "all",
  "one",
  "create",
  "update",
  "replace",
  "remove",
  "updateAll",
  "removeAll",
];

const WORDS = ["history", "revert", "restore"];

interface Row extends Pick<RouteDescription, "model" | "operation"> {
  readonly method: string;
  readonly path: string;
  readonly needs: readonly string[];
  readonly body?: object | undefined;
}

/** Names what a route needs by its path alone, apart from the code under test. */
function needsOf({ path, operation }: RouteDescription): string[] {
  const isPlain = OPERATIONS.includes(operation);
  const parts = path.split("/").slice(1).slice(0, isPlain ? undefined : -1);
  const nameUpTo = (end: number) =>
    parts.slice(0, end).filter((part) => !part.startsWith(":")).join("/");
  const word = isPlain || WORDS.includes(operation) ? operation : `action.${operation}`;
  const own = nameUpTo(parts.length);
  const above = parts.flatMap((part, at) =>
    at > 0 && !part.startsWith(":") && nameUpTo(at) !== own ? [`${nameUpTo(at)}:one`] : []
  );
  return [...new Set([...above, `${own}:${word}`])];
}

/** The routes, and what changes their names: `trash`, lists of entities, references. */
function rowsOf(routes: readonly RouteDescription[], ids: ReadonlyMap<string, string>): Row[] {
  return routes.filter(({ model }) => model !== "keys").flatMap((route): Row[] => {
    const needs = needsOf(route);
    const { method, writes, parameters, operation, model } = route;
    const path = route.path.replace(/:id\b/, ids.get(route.path.split("/")[1] ?? "") ?? "x")
      .replaceAll(/:subId\d*/g, "0123456789abcdef01234567");
    const [own = ""] = needs.at(-1)?.split(":") ?? [];
    const hasTrash = parameters.some(({ name }) => name === "trash");
    const isRead = operation === "all" || operation === "one";
    const trash = [...needs.filter((name) => !isRead || name !== needs.at(-1)), `${own}:trash`];
    const body = method === "GET" || method === "DELETE" ? undefined : {};
    const row = { method, path, needs, body, model, operation };
    return [
      row,
      ...hasTrash ? [{ ...row, path: `${path}?trash=only`, needs: trash }] : [],
      ...writes?.many !== undefined
        ? [{ ...row, body: [{}], needs: [...needs, `${own}:many`] }]
        : [],
    ];
  });
}

/** Opens an example with keys, and with all its models for assistants. */
async function openExample(
  { models, tools = models, seed, user = "ann", authorization, tenant }: Example,
) {
  await using stack = new AsyncDisposableStack();
  stack.use(await openDatabase(await sharedReplicaSet()));
  await seed();
  const api = Framework.initialize({
    models,
    actor: () => user,
    ...tenant && { tenant },
    // The examples know users by this header, and see no key.
    guard(req: FrameworkRequest) {
      req.headers.authorization = authorization;
      return true;
    },
    plugins: [keys({ owner: () => ({}), max: 500 })],
    batch: { path: "/batch" },
    queryMethod: true,
    strict: false,
  });
  const app = express();
  const expose = tools.map((model): Exposure => ({ model, operations: ["all", "one"] }));
  app.use(express.json(), api);
  app.use("/mcp", mcp(api, { expose }));
  app.use(Framework.errors());
  const served = await start(app);
  stack.defer(() => served.stop());
  const ids = new Map<string, string>();
  for (const { path, model: name } of api.describe().filter(({ path }) => path.endsWith("/:id"))) {
    const model = models.find((each) => each.name === name);
    const found = model && await getModel(model).findOne();
    ids.set(path.split("/")[1] ?? "", String(found?._id));
  }
  const opened = stack.move();
  const rows = rowsOf(api.describe(), ids);
  return { ...served, rows, tools, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** An answer, as far as it tells of rights. */
interface Verdict {
  readonly status: number;
  /** The scope that the answer says is missing. */
  readonly scope?: string;
}

function verdictOf({ status, body }: { readonly status: number; readonly body: unknown }): Verdict {
  const { scope } = Object(body);
  return { status, scope };
}

/** Sends a request in each way that it has. */
async function sendBy(
  app: Started,
  { row: { method, path, body }, key }: { readonly row: Row; readonly key: string },
): Promise<Verdict[]> {
  const headers = { "x-api-key": key };
  const given = [verdictOf(await app.send(method, path, { headers, body }))];
  const requests = [{ id: "1", method, path, ...body && { body } }];
  const batch = await app.post<{ message?: string }>("/batch", { requests }, { headers });
  const isPaged = batch.body.message?.startsWith("A list without pages") !== true;
  if (isPaged) given.push(verdictOf(batch));
  if (method !== "GET" || /[0-9a-f]{24}|\?/.test(path)) return given;
  const query = await app.send("QUERY", path, { headers, body: {} });
  if (query.status !== 404) given.push(verdictOf(query));
  const accept = "text/event-stream";
  const live = await fetch(app.url + path, { headers: { ...headers, accept } });
  const { status } = live;
  if (status === 200) await live.body?.cancel();
  return [...given, verdictOf({ status, body: status === 200 ? {} : await live.json() })];
}

/** A hook of the example may refuse before, with a 403 that names no scope. */
function check({ status, scope: missing }: Verdict, { row, scope }: {
  readonly row: Row;
  readonly scope: string;
}): void {
  const others = row.needs.filter((need) => need !== scope);
  const told = `${row.method} ${row.path} with ${scope}: ${status} ${missing}`;
  if (others.length === 0) assertEquals(missing, undefined, told);
  else assert(status === 403 && (missing === undefined || others.includes(missing)), told);
}

for (const [name, example] of Object.entries(EXAMPLES)) {
  longTest(`each scope of ${name} answers what it names, and nothing else`, async () => {
    await using app = await openExample(example);
    const scopes = [...new Set(app.rows.flatMap(({ needs }) => needs))];
    let [named, refused] = [0, 0];
    for (const scope of scopes) {
      const given = { name: scope, scopes: [scope] };
      const { body: { key }, text, status } = await app.post<MadeKey>("/keys", given);
      assertEquals(status, 201, text);
      for (const row of app.rows) {
        for (const verdict of await sendBy(app, { row, key })) {
          check(verdict, { row, scope });
          if (verdict.scope !== undefined) named++;
          else if (verdict.status === 403) refused++;
        }
      }
      await toolsAgree(app, { scope, key });
    }
    assert(named > 100 && refused < named / 3, `${named} named, ${refused} refused by hooks`);
  });
}

/** A tool is refused as the route that it calls. */
async function toolsAgree(
  app: Started & { readonly rows: readonly Row[]; readonly tools: readonly ModelClass[] },
  { scope, key }: { readonly scope: string; readonly key: string },
): Promise<void> {
  const { call } = toolsOf(app);
  const lists = app.rows.filter(({ operation, path, model }) =>
    operation === "all" && /^\/\w+$/.test(path) && app.tools.some(({ name }) => name === model)
  );
  assert(lists.length > 0);
  for (const { model, path } of lists) {
    const { status } = await app.get(path, { headers: { "x-api-key": key } });
    const { error } = await call("list", { model }, { authorization: `Bearer ${key}` });
    assertEquals([scope, model, error === undefined], [scope, model, status === 200]);
  }
}
