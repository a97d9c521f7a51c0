import process from "node:process";
import { type FrameworkRequest, RestError } from "@mongrove/mongrove";

/** The shared secret. A real application has no default for it. */
export const SECRET_KEY: string = process.env.SECRET_KEY || "demo-key";

/** The guard: lets a request pass whose header `authorization` is the secret. */
export function authenticated(req: FrameworkRequest): boolean {
  if (req.headers.authorization !== SECRET_KEY) {
    throw new RestError(401, { code: "UNAUTHENTICATED" });
  }
  return true;
}
