import { assertEquals } from "@std/assert";
import type { ErrorBody, Mounted } from "../../support/support.ts";

export interface Fate extends ErrorBody {
  readonly line: number;
  readonly status: number;
  readonly _id?: string;
}

interface Table {
  readonly raw: string | Uint8Array<ArrayBuffer>;
  readonly headers?: object;
}

/** Sends a table. */
export async function sendTable(app: Mounted, path: string, { raw, headers }: Table) {
  return await app.send<ErrorBody>("POST", path, {
    raw,
    headers: { "content-type": "text/csv", ...headers },
  });
}

/** Sends a table; gives what is told of each row. */
export async function importTable(app: Mounted, path: string, table: Table): Promise<Fate[]> {
  const { status, text, headers } = await sendTable(app, path, table);
  assertEquals([status, headers.get("content-type")], [207, "application/x-ndjson"], text);
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}
