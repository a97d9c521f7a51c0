import { ApiError } from "@mongrove/mongrove/client";
import { HttpError } from "react-admin";

/** The fields of an entity. */
type Fields = Readonly<Record<string, unknown>>;

/** Throws an error with the messages that react-admin shows at the fields of a form. */
export function withFieldErrors(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  const messages = Object.entries(error.errors).map(([field, { message }]) => [field, message]);
  throw new HttpError(error.message, error.status, { errors: Object.fromEntries(messages) });
}

/** The error of a file that was refused after the other fields were saved. */
export function fileError(field: string, error: unknown): HttpError {
  const { status, message } = error instanceof ApiError
    ? error
    : { status: 0, message: `${error}` };
  return new HttpError(message, status, { errors: { [field]: message }, isSaved: true });
}

/** Whether the form has to read what is stored now. */
export function isStale(error: unknown): boolean {
  return isConflict(error) || error instanceof HttpError && error.body?.isSaved === true;
}

/** The error of a write that came too late. */
export function conflict(errors: Readonly<Record<string, string>> = {}): HttpError {
  const message = "Somebody else has changed this since you opened it, so nothing was saved or " +
    "deleted. The form has what is stored now, and what you have typed.";
  return new HttpError(message, 412, { errors });
}

/** Tells whether a write came too late. */
export function isConflict(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof HttpError) && error.status === 412;
}

/** What is stored in the fields that both have changed. */
export function storedNow(changes: Fields, { before, now }: Record<"before" | "now", Fields>) {
  const both = Object.keys(changes).filter((field) =>
    !isSame(before[field], now[field]) && !isSame(changes[field], now[field])
  );
  const messages = both.map((field) => {
    const value = now[field] ?? "";
    return [field, typeof value === "object" ? "Changed meanwhile" : `Stored now: ${value}`];
  });
  return Object.fromEntries(messages);
}

/** Tells whether two values of a field are the same. Forms have `null` where an entity has no value. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}
