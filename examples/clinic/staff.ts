import { type Actor, type FrameworkRequest, RestError } from "@mongrove/mongrove";

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly clinic: string;
  readonly role: "reception" | "doctor" | "administrator";
}

/** In an application, whoever signs in. Here, a token is the identifier of a member of the staff. */
export const STAFF: ReadonlyMap<string, Member> = new Map(
  ([
    { id: "rosa", name: "Rosa Lind", clinic: "oak", role: "reception" },
    { id: "who", name: "Dr. Who", clinic: "oak", role: "doctor" },
    { id: "grey", name: "Dr. Grey", clinic: "oak", role: "doctor" },
    { id: "amir", name: "Amir Sand", clinic: "oak", role: "administrator" },
    { id: "zoe", name: "Dr. Zoe", clinic: "elm", role: "doctor" },
  ] as const).map((member) => [member.id, member]),
);

/** Gives the sender of a request, or answers 401. */
export function memberOf({ headers }: FrameworkRequest): Member {
  const member = STAFF.get(headers.authorization?.replace(/^Bearer /, "") ?? "");
  if (member === undefined) throw new RestError(401, { code: "UNAUTHENTICATED" });
  return member;
}

/** The guard: lets the staff pass. */
export function signedIn(req: FrameworkRequest): boolean {
  return memberOf(req) !== undefined;
}

export function isDoctor(req: FrameworkRequest): boolean {
  return memberOf(req).role === "doctor";
}

export function isAdministrator(req: FrameworkRequest): boolean {
  return memberOf(req).role === "administrator";
}

/** The desk: whoever makes appointments and writes invoices. */
export function isAtDesk(req: FrameworkRequest): boolean {
  return !isDoctor(req);
}

/** Gives the names that the history shows. */
export function namesOf(ids: readonly Actor[]): Promise<Map<Actor, string>> {
  return Promise.resolve(new Map(ids.map((id) => [id, STAFF.get(String(id))?.name ?? "?"])));
}
