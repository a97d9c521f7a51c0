/** Parts of all servers. @module */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";

export const URI = process.env.MONGODB_URI ?? "";

/** The size that a body of many entities has at most. */
export const LARGEST_BODY = "2mb";

/** Listens on a free port, writes the port to stdout, and ends with the bench. */
export function listen(handler: RequestListener): void {
  const server = createServer(handler);
  server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => {
    process.stdout.write(`listens on ${(server.address() as AddressInfo).port}\n`);
  });
  process.stdin.on("end", () => process.exit()).resume();
}

/** Imports a package of the server's own folder, hidden from the type check and the bundler. */
// deno-lint-ignore no-explicit-any -- the package and its types are not installed here
export async function importPeer(name: string): Promise<any> {
  return await import(name);
}

/** The field that the hook reads. */
export interface Starred {
  readonly stars: number;
}

/** Reads a field, and keeps the entity or drops it. It is the hook of all servers. */
export function keepStarred<T extends Starred>(item: T): T | null {
  return item.stars >= 0 ? item : null;
}

/** Runs the hook over a list, for servers without hooks. */
export function keepAllStarred<T extends Starred>(items: readonly T[]): T[] {
  return items.map(keepStarred).filter((item) => item !== null);
}

export type PageQuery = ReturnType<typeof readPageQuery>;

/** Reads the parameters of a page, such as `?limit=20&sort=-rank&populate=writer`. */
export function readPageQuery({ limit, sort, populate }: Readonly<Record<string, unknown>>) {
  return {
    limit: Math.min(Number(limit) || 20, 100),
    sort: { rank: sort === "-rank" ? -1 as const : 1 as const },
    isPopulated: populate === "writer",
  };
}
