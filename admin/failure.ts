import { ApiError } from "@mongrove/mongrove/client";
import { HttpError } from "react-admin";

const REASONS: Readonly<Record<number, string>> = {
  401: "you are not signed in",
  403: "you may not do this",
  404: "it does not exist, or you may not see it",
  409: "it conflicts with what is stored",
  412: "somebody else has changed it",
  413: "it is too large",
  429: "there were too many requests",
};

/** Returns the reason of a failed request, as a part of a sentence. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) {
    return error instanceof Error ? `the server did not answer (${error.message})` : String(error);
  }
  const { status, code, message, body } = error;
  const { referredBy } = (body ?? {}) as { readonly referredBy?: unknown };
  if (Array.isArray(referredBy)) return `it is still used by: ${referredBy.join(", ")}`;
  const reason = REASONS[status] ?? (status >= 500 ? "the server failed" : undefined);
  if (message !== code) return message;
  return reason === undefined ? code : `${reason} (${code})`;
}

/**
 * Returns the error that React-admin shows. The message says which request has failed, and the messages of fields are
 * shown beside the fields of a form.
 */
export function failure(attempt: string, error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const status = error instanceof ApiError ? error.status : 0;
  const fields = error instanceof ApiError ? Object.entries(error.errors) : [];
  const errors = Object.fromEntries(fields.map(([field, { message }]) => [field, message]));
  const reason = fields.length === 0 ? reasonOf(error) : "see the messages at the fields";
  return new HttpError(`Cannot ${attempt}: ${reason}`, status, { errors });
}

/** Whether a write came later than the write of another client. */
export function isConflict(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof HttpError) && error.status === 412;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
