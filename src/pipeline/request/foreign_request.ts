import { IncomingMessage } from "node:http";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

/**
 * A request with a `framework` of its own, for what runs while hooks of the same request may wait. All else is read from the
 * given request and set on it: what a scope notes there is seen by others.
 */
export function foreignRequest(
  req: FrameworkRequest,
  { framework, params }: Partial<Pick<FrameworkRequest, "framework" | "params">> = {},
): FrameworkRequest {
  let own: unknown = framework ?? req.framework;
  return new Proxy(req, {
    // Getters get the request itself: members that are private to its class cannot be read from a proxy.
    get(target, name) {
      if (name === "framework") return own;
      if (name === "params" && params !== undefined) return params;
      const value: unknown = Reflect.get(target, name, target);
      // Iterating over a stream compares it with the `this` of its listeners: an error that nobody catches otherwise.
      const isOfStream = name in IncomingMessage.prototype && typeof value === "function";
      return isOfStream ? value.bind(target) : value;
    },
    set(target, name, value) {
      if (name !== "framework") return Reflect.set(target, name, value, target);
      own = value;
      return true;
    },
  });
}
