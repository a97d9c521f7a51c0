import type { Connection } from "mongoose";

/** What the driver decodes by, and does not declare. */
interface DecodingClient {
  readonly bsonOptions?: { readonly fieldsAsRaw?: unknown };
}

/**
 * Has the driver decode arrays whatever they are called: it looks up their names in a plain object, and leaves those
 * undecoded that every object has, such as `toString`.
 */
export function decodeAllNames(connection: Connection): void {
  const client = connection.getClient() as DecodingClient | undefined;
  const undecoded = client?.bsonOptions?.fieldsAsRaw;
  if (typeof undecoded !== "object" || undecoded === null) return;
  if (Object.getPrototypeOf(undecoded) === Object.prototype) Object.setPrototypeOf(undecoded, null);
}
