import { refusal } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import type { JsonObject } from "../../schema/fields/json.ts";

export type LineFormat = "ndjson" | "csv";

export interface BodyLine {
  /** The number of the line, from 1. */
  readonly line: number;
  readonly body?: JsonObject;
  readonly error?: RestError;
}

/** An empty row of a table has no `body` and no `error`. */
export interface ParsedLine extends BodyLine {
  readonly size: number;
}

export interface BodyParser {
  /** An error that ends the import names this line, where the client continues. */
  readonly next: number;
  /** `null` is the end of the body, and `undefined` a wait without a new chunk. */
  parse(chunk: Uint8Array | null | undefined): Iterable<ParsedLine>;
}

/** A whole line has to be in memory. */
export const MAX_LINE = 1024 * 1024;

export function tooLong(): RestError {
  const message =
    `The line is longer than ${MAX_LINE} bytes: it and the lines after it are not read`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit: MAX_LINE });
}
