import { ApiError, connect, etagOf } from "@mongrove/mongrove/client";
import type { Api, FetchFunction, Json, Resource } from "@mongrove/mongrove/client";
import type { Film } from "../../fixtures/studio.ts";

/**
 * Uses everything of the client. It runs in every runtime: nothing here is of one alone.
 *
 * @param base Where the application is mounted.
 * @param inner What sends.
 * @returns What it has seen.
 */
export async function useClient(
  base: string,
  inner: FetchFunction = (url, init) => fetch(url, init),
): Promise<Record<string, unknown>> {
  const statuses: number[] = [];
  const spy = async (url: string, init: RequestInit) => {
    const response = await inner(url, init);
    statuses.push(response.status);
    return response;
  };
  const api = connect(base, { fetch: spy });
  const films = api.resource<Film>("/studio");
  await films.removeAll({ q: {} });
  const written = await write(films, api.resource<Film>("/studio", { idempotency: true }));
  const made: string[] = [];
  for (const name of ["Ärger & Co", "B", "C"]) made.push((await films.create({ name }))._id);
  const id = made[0] ?? "";
  const page = await films.all({ sort: ["-name"], select: ["name"], limit: 1, count: true });
  const names: string[] = [];
  for await (const { name } of films.each({ sort: ["name"] })) names.push(name);
  const one = await films.one(id, { revive: ["createdAt"] });
  const again = await films.one(id, { known: one, revive: ["createdAt"] });
  await films.update(id, { year: 1979 }, { ifMatch: one });
  const comment = await commentOn(films, id);
  const found = await films.all({ q: { year: { $gte: 1970 }, "reviews.text": "Good" } });
  return {
    names,
    page: [page.items[0]?.name, page.total, typeof page.next],
    one: [
      one.createdAt instanceof Date,
      etagOf(one)?.slice(0, 3),
      again === one,
      statuses.includes(304),
    ],
    written,
    parts: [comment, found.items.map(({ year }) => year)],
    ...await readOddly(api),
    ...await failWith(films, one),
  };
}

/** Creates a review of a film, and a comment on that; gives its text. */
async function commentOn(films: Resource<Film>, id: string): Promise<string | undefined> {
  const reviews = films.part("reviews", id);
  const review = await reviews.create({ text: "Good" });
  return (await reviews.part("comments", review._id).create({ text: "Yes" })).text;
}

/** Reads what is away at first, and a live list until it has changed. */
async function readOddly(api: Api): Promise<Record<string, unknown>> {
  const followed: string[] = [];
  for await (const list of api.resource<Film>("/live").live()) {
    if (followed.push(list.map(({ name }) => name).join()) === 2) break;
  }
  return { repeated: await api.resource<Film>("/flaky").one("1"), followed };
}

/** Creates with a key, replaces, and removes what it has written. */
async function write(films: Resource<Film>, keyed: Resource<Film>): Promise<unknown[]> {
  const made = await keyed.create({ name: "K", year: 1979 }, { minimal: true });
  const id = made.location?.split("/").at(-1) ?? "";
  const { name, year } = await films.replace(id, { name: "L" }, { ifMatch: made });
  await films.removeAll({ q: {}, maxAffected: 1 });
  return [etagOf(made), name, year ?? "none", (await films.all()).items.length];
}

/** Calls that fail, and the removal of the entity. */
async function failWith(
  films: Resource<Film>,
  stale: Pick<Json<Film>, "_id" | "__v">,
): Promise<Record<string, unknown>> {
  const signal = AbortSignal.abort(new RangeError("enough"));
  const id = stale._id;
  return {
    conflict: await problemOf(films.update(id, { name: "X" }, { ifMatch: stale })),
    invalid: await problemOf(films.create({} as never)),
    missing: await problemOf(films.one("0123456789abcdef01234567")),
    aborted: await problemOf(films.all({ signal })),
    late: await problemOf(films.all({ parameters: { slow: "1" }, timeoutMS: 200 })),
    removed: typeof await films.remove(id),
  };
}

async function problemOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiError) return [error.status, error.code, Object.keys(error.errors)];
    return (error as Error).name;
  }
}
