import type { Client } from "./client.ts";
import { request } from "../harness/request.ts";

export function idsOf(entities: readonly { readonly _id: unknown }[] = []): string[] {
  return entities.map(({ _id }) => String(_id));
}

export function namesOf(entities: readonly object[] = []): unknown[] {
  return entities.map((each) => (each as { readonly name?: unknown }).name);
}

/** Sorted and joined. */
export async function namesAt(url: string): Promise<string> {
  return namesOf((await request<object[]>(url)).body).sort().join("");
}

/** Joined, in the order of the list. */
export async function namesIn({ get }: Client, path: string): Promise<string> {
  return namesOf((await get<object[]>(path)).body).join("");
}

/** Sorted and joined. */
export async function sortedIn(app: Client, path: string): Promise<string> {
  return (await namesIn(app, path)).split("").sort().join("");
}
