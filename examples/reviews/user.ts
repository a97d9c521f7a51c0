import { type FrameworkRequest, RestError } from "@mongrove/mongrove";

/** Put your own check in its place. */
const USERS = new Map([["Bearer ann-token", "ann"], ["Bearer bob-token", "bob"]]);

export function userOf(req: FrameworkRequest): string {
  const user = USERS.get(req.headers.authorization ?? "");
  if (user === undefined) throw new RestError(401, { code: "UNAUTHENTICATED" });
  return user;
}

export const signedIn = (req: FrameworkRequest): boolean => userOf(req) !== "";
