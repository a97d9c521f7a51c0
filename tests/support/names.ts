import type { Client } from "./client.ts";
import { request } from "../harness/request.ts";

/** The identifiers of entities, in their order. */
export function idsOf(entities: readonly { readonly _id: unknown }[] = []): string[] {
  return entities.map(({ _id }) => String(_id));
}

/** The names of entities, in their order. */
export function namesOf(entities: readonly object[] = []): unknown[] {
  return entities.map((each) => (each as { readonly name?: unknown }).name);
}

/** The names that a list answers, sorted, in one word. */
export async function namesAt(url: string): Promise<string> {
  return namesOf((await request<object[]>(url)).body).sort().join("");
}

/** The names that a list answers, in its order, in one word. */
export async function namesIn({ get }: Client, path: string): Promise<string> {
  return namesOf((await get<object[]>(path)).body).join("");
}

/** The same, sorted. */
export async function sortedIn(app: Client, path: string): Promise<string> {
  return (await namesIn(app, path)).split("").sort().join("");
}
