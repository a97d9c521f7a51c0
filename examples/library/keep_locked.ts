import { type FrameworkRequest, RestError } from "@mongrove/mongrove";

/** The key of the cabinet, as the header `x-key` carries it. */
export const KEY = "brass";

/** Shows a locked shelf to those alone who have the key; what stands on it is guarded with it. */
export function keepLocked<E extends { locked: boolean }>(req: FrameworkRequest, shelf: E): E {
  if (shelf.locked && req.headers["x-key"] !== KEY) throw new RestError(403, "Locked");
  return shelf;
}
