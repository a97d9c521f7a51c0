import type { Route } from "../pipeline/request/route.ts";

/** A request that is made in this process, for a caller whose own request has another form. */
interface InnerRequest {
  /** The only route that answers it: for any other one, whatever path it has, it is a 404. */
  readonly mounted: Route;
  /** The route that it takes: the same, or one with narrower rules. */
  readonly route: Route;
  /** Whether it asks for the description of the route, as the caller may see it, in the place of its answer. */
  readonly describes: boolean;
}

const inner = new WeakMap<object, InnerRequest>();

export function markInner(req: object, request: InnerRequest): void {
  inner.set(req, request);
}

export function innerRequest(req: object): InnerRequest | undefined {
  return inner.get(req);
}
