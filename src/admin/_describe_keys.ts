import type { Request } from "express-types";
import type { Actor } from "../declare/hooks/framework_request.ts";
import { describeEndpoint } from "../describe/describe_endpoint.ts";
import { operationOfRoute } from "../pipeline/plugins/operation_names.ts";
import type { Route } from "../pipeline/request/route.ts";
import type { Endpoint } from "../pipeline/router_feature.ts";
import type { PageKeys } from "./document.ts";
import type { AdminOptions } from "./options.ts";

interface KeysContext {
  readonly endpoints: readonly Endpoint[];
  readonly req: Request;
  readonly see: AdminOptions["see"];
  /** The owner of the API keys. */
  readonly actor: Actor;
}

export async function describeKeys(
  allowed: readonly Route[],
  { endpoints, req, see, actor }: KeysContext,
): Promise<PageKeys | undefined> {
  const operations: string[] = [];
  for (
    const route of endpoints.filter(({ plugin }) => plugin === "keys").flatMap(describeEndpoint)
  ) {
    if (see === undefined || await see(req, route) === true) operations.push(route.operation);
  }
  if (!operations.includes("all")) return undefined;
  const scopes = [...new Set(allowed.map((route) => operationOfRoute(route).name))];
  return { owner: String(actor), operations, scopes };
}
