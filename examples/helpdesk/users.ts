import { type FrameworkRequest, RestError } from "@mongrove/mongrove";

export interface User {
  readonly name: string;
  /** The organisation of a customer; agents have none. */
  readonly organisation?: string;
}

/** In an application, whoever signs in. Here, a token is a name. */
export const USERS: ReadonlyMap<string, User> = new Map([
  ["ada", { name: "Ada" }],
  ["bob", { name: "Bob" }],
  ["cem", { name: "Cem", organisation: "acme" }],
  ["dee", { name: "Dee", organisation: "dune" }],
]);

/** Gives the user of a request, or answers 401. */
export function userOf({ headers }: FrameworkRequest): User {
  const user = USERS.get(headers.authorization?.replace(/^Bearer /, "") ?? "");
  if (user === undefined) throw new RestError(401, { code: "UNAUTHENTICATED" });
  return user;
}

export function isAgent(req: FrameworkRequest): boolean {
  return userOf(req).organisation === undefined;
}

export function isCustomer(req: FrameworkRequest): boolean {
  return !isAgent(req);
}

/** Lets agents pass: `preFetch` of what is for them alone. */
export function agentsOnly(req: FrameworkRequest): boolean {
  return isAgent(req);
}
