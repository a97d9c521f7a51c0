import mongoose from "mongoose";
import { type FrameworkRequest, RestError } from "@mongrove/mongrove";
import { apiKeyOf } from "@mongrove/mongrove/keys";

export interface User {
  readonly id: string;
  /** The tenant: the company whose help desk the user works for, or is a customer of. */
  readonly desk: string;
  /** The identifier of the organisation of a customer; agents have none. */
  readonly organisation?: mongoose.Types.ObjectId;
}

export const ACME = new mongoose.Types.ObjectId("6a5f1c2a9b1e8a0012a4d001");
export const DUNE = new mongoose.Types.ObjectId("6a5f1c2a9b1e8a0012a4d002");

/** In an application, whoever signs in. Here, a token is the identifier of a user. */
export const USERS: ReadonlyMap<string, User> = new Map(
  ([
    { id: "ada", desk: "north" },
    { id: "bob", desk: "north" },
    { id: "cem", desk: "north", organisation: ACME },
    { id: "dee", desk: "north", organisation: DUNE },
    { id: "eve", desk: "south" },
  ] as const).map((user) => [user.id, user]),
);

/** Gives the user of a request, or the owner of its key, or answers 401. */
export function userOf(req: FrameworkRequest): User {
  const token = req.headers.authorization?.replace(/^Bearer /, "");
  const user = USERS.get(String(apiKeyOf(req)?.owner ?? token));
  if (user === undefined) throw new RestError(401, { code: "UNAUTHENTICATED" });
  return user;
}

/** The guard: lets users pass. */
export function signedIn(req: FrameworkRequest): boolean {
  return userOf(req) !== undefined;
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
