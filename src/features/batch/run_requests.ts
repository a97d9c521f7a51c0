import type { Request, RequestHandler } from "express-types";
import { inSharedTransaction } from "../../store/shared_transaction.ts";
import { MARGIN_MS, TimeBudget } from "../../store/time_budget.ts";
import { badFormat, withDetails } from "../../errors/refusals.ts";
import { RestError } from "../../errors/rest_error.ts";
import { type InnerAnswer, sendInner } from "../../http/inner_request.ts";
import { toAnswer } from "../../pipeline/failures.ts";
import type { Call } from "../../pipeline/request/request_context.ts";
import { actingLevel, type Route } from "../../pipeline/request/route.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { BatchRequest } from "./read_requests.ts";
import { pathWith } from "./request_path.ts";
import { Results, withResults } from "./results.ts";

interface RunOptions {
  readonly req: Request;
  readonly handler: RequestHandler;
  readonly routes: readonly Route[];
  readonly maxTimeMS: number;
}

/** The answers are held in memory until the commit. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A failed answer is thrown, so that nothing is written. */
export async function runRequests(
  requests: readonly BatchRequest[],
  { req, handler, routes, maxTimeMS }: RunOptions,
): Promise<string> {
  const timeBudget = new TimeBudget(maxTimeMS + MARGIN_MS);
  timeBudget.isLong = true;
  const answers = new Map<string, InnerAnswer>();
  const results = new Results();
  const sharedRoutes = routes.filter((route) => requests.some((each) => mayAnswer(route, each)));
  let failed: string | undefined;
  const run = async () => {
    let maxBytes = MAX_BYTES;
    for (const request of requests) {
      failed = request.id;
      const message = messageOf(request, { req, results });
      const facts = { origin: req, timeBudget, admit, sharedRoutes };
      const answer = await sendInner(handler, { req, message, facts, maxBytes });
      if (answer === undefined) throw badFormat(`"path" is the path of no route`);
      checkAnswer(answer, req);
      maxBytes -= answer.bytes;
      answers.set(request.id, answer);
      results.add(request.id, () => bodyOf(answer));
    }
    failed = undefined;
  };
  try {
    await inSharedTransaction(timeBudget, run);
  } catch (thrown) {
    const error = toAnswer(thrown);
    throw error instanceof RestError && failed !== undefined
      ? withDetails(error, { failed })
      : error;
  }
  for (const { cookies } of answers.values()) sendCookies(req, cookies);
  return `{"responses":[${[...answers].map(([id, each]) => responseText(id, each)).join()}]}`;
}

function messageOf(
  { method, path, headers, body }: BatchRequest,
  { req, results }: Pick<RunOptions, "req"> & { readonly results: Results },
) {
  const url = pathWith(path, results);
  const [, query = ""] = url.split(/\?(.*)/s);
  const parse: unknown = req.app.get("query parser fn");
  return {
    method,
    url,
    // Otherwise the request would inherit query parameters that middleware has set on the batch.
    query: typeof parse === "function" ? parse(query) : {},
    headers,
    ...body !== undefined && { body: withResults(body, results) },
  };
}

/**
 * MongoDB builds no index in a transaction, and Express chooses the route only in it, so indexes of all possible routes
 * are built before.
 */
function mayAnswer(
  { path, operation }: Route,
  { method, path: { segments } }: BatchRequest,
): boolean {
  const names = path === "/" ? [] : path.split("/").slice(1);
  return operation.verb.toUpperCase() === method && names.length === segments.length &&
    names.every((name, index) => {
      const segment = segments[index];
      return name.startsWith(":") || typeof segment !== "string" ||
        name.toLowerCase() === segment.toLowerCase();
    });
}

/**
 * Begins the transaction, or else hooks would write outside of it. With `getConnection`, hooks may still choose the
 * connection, so it begins later.
 */
async function admit({ route, levels: [root] }: Call): Promise<void> {
  const { operation, options: { declared } } = actingLevel(route);
  if (operation === "all" && !declared.has("page")) {
    throw badFormat(`A list without pages cannot be a part of a batch`);
  }
  if (route.getConnection === undefined) await root?.model();
}

/** In the body, scripts of a web page could read `HttpOnly` cookies. */
function sendCookies({ res }: Request, cookies: readonly string[]): void {
  for (const cookie of cookies) res?.append("Set-Cookie", cookie);
}

function checkAnswer(answer: InnerAnswer, req: Request): void {
  const { status, headers, text } = answer;
  if (status >= 300 && status !== 304) {
    const body = bodyOf(answer);
    const shown = isJsonObject(body) ? body : { body };
    sendCookies(req, answer.cookies);
    throw new RestError(status, shown, { headers });
  }
  // An empty NDJSON list is refused too, or else a batch would fail only when there is data.
  if ((text !== "" || "content-type" in headers) && !isJson(answer)) {
    throw badFormat("An answer that is no JSON cannot be a part of a batch");
  }
  // An error of one element ends the transaction, so elements cannot fail one by one.
  if (status === 207) {
    throw badFormat("A list whose elements succeed one by one cannot be a part of a batch");
  }
}

function isJson({ headers }: InnerAnswer): boolean {
  return /^application\/(?:json|[\w.-]+\+json)\b/.test(headers["content-type"] ?? "");
}

function bodyOf(answer: InnerAnswer): unknown {
  if (answer.text === "") return undefined;
  return isJson(answer) ? JSON.parse(answer.text) : answer.text;
}

/** Answers in a batch leave out these headers about the transfer by HTTP. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  "content-length",
  "content-type",
  "connection",
  "vary",
]);

function responseText(id: string, { status, headers, text }: InnerAnswer): string {
  const kept = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name));
  const head = JSON.stringify({ id, status, headers: Object.fromEntries(kept) });
  return text === "" ? head : `${head.slice(0, -1)},"body":${text}}`;
}
