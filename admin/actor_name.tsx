/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { type RaRecord, useGetManyAggregate } from "react-admin";
import { readHeaders } from "./session.ts";

/** The start of the name of a resource for names of users. The path of the entities follows it. */
const NAMES = "$names";

interface ActorNameProps {
  /** The path of the list. */
  readonly path: string;
  /** The identifier of the entity that shows the sender. */
  readonly id: string;
  readonly actor: string | number;
}

/** The identifier is shown if the application knows no name of the sender. */
export function ActorName({ path, id, actor }: ActorNameProps) {
  const { data } = useGetManyAggregate<RaRecord>(
    NAMES + path,
    { ids: [JSON.stringify([String(actor), id])] },
    { retry: false },
  );
  return data?.[0]?.name ?? String(actor);
}

export function isStamp(
  value: unknown,
  name: string,
  stamps: readonly string[],
): value is string | number {
  return stamps.includes(name) && (typeof value === "string" || typeof value === "number");
}

export function isOfNames(resource: string): boolean {
  return resource.startsWith(NAMES);
}

/** The name of each sender is read by one entity that shows the sender. */
export async function readNames(resource: string, ids: readonly unknown[]): Promise<RaRecord[]> {
  const pairs = ids.map((each) => {
    const [actor, entity]: [string, string] = JSON.parse(String(each));
    return { id: String(each), actor, entity };
  });
  const query = new URLSearchParams({ path: resource.slice(NAMES.length) });
  const entities = new Map(pairs.map(({ actor, entity }) => [actor, entity]));
  for (const entity of entities.values()) query.append("id", entity);
  const response = await fetch(`names.json?${query}`, { headers: readHeaders() });
  const names: Readonly<Record<string, string>> = response.ok ? await response.json() : {};
  return pairs.map(({ id, actor }) => ({ id, name: names[actor] ?? actor }));
}
