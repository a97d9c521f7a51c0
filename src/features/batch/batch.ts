import { unknownOption } from "../../errors/unknown_option.ts";
import type { Endpoint, RouterFeature } from "../../pipeline/router_feature.ts";
import { awaitFirstBuild } from "../../schema/index_builds.ts";
import { getModel } from "../../schema/get_model.ts";
import { refuseStandalone } from "../../pipeline/check_transactions.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { STANDALONE } from "../../database/in_transaction.ts";
import { describeBatch } from "./describe_batch.ts";
import type { BatchOptions } from "./option.ts";
import { readRequests } from "./read_requests.ts";
import { runRequests } from "./run_requests.ts";

/**
 * A batch is one request that contains several requests to routes of the router. The requests run in order and in one
 * transaction. All of them succeed, or nothing is written.
 */
export const batch: RouterFeature<Required<BatchOptions>> = {
  name: "batch",
  check: checkOptions,
  endpoint: openBatches,
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

function openBatches(
  { path, max }: Required<BatchOptions>,
  routes: readonly Route[],
): Endpoint {
  const [settings] = routes;
  if (settings === undefined) throw new TypeError(`Cannot initialize: "batch" needs routes`);
  for (const route of routes) {
    refuseStandalone(route, `"batch" needs transactions, but ${STANDALONE}`);
  }
  const { bodyLimits, maxTimeMS } = settings;
  const builds = firstBuilds(routes);
  return {
    method: "post",
    path,
    description: describeBatch(max),
    serve: async (req, handler) => {
      const requests = readRequests(req, { max, bodyLimits });
      await builds();
      return await runRequests(requests, { req, handler, maxTimeMS });
    },
  };
}

/**
 * Returns a function that waits until the first index builds of all models have ended, because such a build would
 * conflict with the transaction of a batch. Later calls of the function look for no further builds.
 */
function firstBuilds(routes: readonly Route[]): () => Promise<unknown> {
  let builds: Promise<unknown> | undefined;
  const targets = new Set(
    routes.filter(({ getConnection }) => getConnection === undefined)
      .flatMap(({ levels }) => levels.filter(({ link }) => !link?.embedded))
      .map(({ target }) => target),
  );
  return () =>
    builds ??= Promise.all(
      Array.from(targets, (target) => awaitFirstBuild(getModel(target) as never)),
    );
}
