import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import type { PreFetch } from "../../declare/hooks/hooks.ts";
import { unknownOption } from "../../errors/unknown_option.ts";
import { passGuardOf } from "../../pipeline/pass_guard.ts";
import type { Endpoint, RouterFeature } from "../../pipeline/router_feature.ts";
import { refuseStandalone } from "../../pipeline/check_transactions.ts";
import { checkEndpointParameters } from "../../pipeline/request/check_request.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { STANDALONE } from "../../store/in_transaction.ts";
import { describeBatch } from "./describe_batch.ts";
import type { BatchOptions } from "./option.ts";
import { type BatchRequest, readRequests } from "./read_requests.ts";
import { runRequests } from "./run_requests.ts";

export const batch: RouterFeature<Required<BatchOptions>> = {
  name: "batch",
  check: checkOptions,
  endpoint: batchEndpoint,
};

const OPTIONS: Readonly<Record<keyof BatchOptions, true>> = { path: true, max: true };

function checkOptions(given: unknown): Required<BatchOptions> {
  if (typeof given !== "object" || given === null) {
    throw new TypeError(`Cannot initialize: "batch" is not an object with a "path"`);
  }
  const unknown = unknownOption(given, OPTIONS);
  if (unknown !== undefined) {
    throw new TypeError(`Cannot initialize: "batch" has no option ${unknown}`);
  }
  const { path, max = 20 } = given as BatchOptions;
  if (Number.isSafeInteger(max) && max > 0) return { path, max };
  throw new RangeError(`Cannot initialize: "batch.max" is ${max}, not a positive integer`);
}

function batchEndpoint(
  { path, max }: Required<BatchOptions>,
  routes: readonly Route[],
): Endpoint {
  const [settings] = routes;
  if (settings === undefined) throw new TypeError(`Cannot initialize: "batch" needs routes`);
  for (const route of routes) {
    refuseStandalone(route, `"batch" needs transactions, but ${STANDALONE}`);
  }
  const { bodyLimits, maxTimeMS, guard } = settings;
  return {
    method: "post",
    path,
    description: describeBatch(max),
    serve: async (req, handler) => {
      const read = () => readRequests(req, { max, bodyLimits });
      const requests = await guarded(read, { req: req as FrameworkRequest, guard });
      checkEndpointParameters(req, settings);
      const text = await runRequests(requests, { req, handler, routes, maxTimeMS });
      return { kind: "text", status: 200, text };
    },
  };
}

/** Runs the guard first, so that a refused client learns nothing from the error of an invalid batch. */
async function guarded(
  read: () => BatchRequest[],
  { req, guard }: { readonly req: FrameworkRequest; readonly guard: PreFetch | undefined },
): Promise<BatchRequest[]> {
  let requests: BatchRequest[] | undefined;
  let wrong: unknown;
  try {
    requests = read();
  } catch (error) {
    wrong = error;
  }
  await passGuardOf(guard, { req, operation: "batch", weight: requests?.length ?? 1 });
  if (requests === undefined) throw wrong;
  return requests;
}
