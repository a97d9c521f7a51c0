import { connect } from "@mongrove/mongrove/client";
import type { Api, FileJson, Page, Resource, SortName } from "@mongrove/mongrove/client";
import type { Actor } from "../../movies/actor.ts";
import type { Movie } from "../../movies/movie.ts";
import { readKey } from "./auth.tsx";

/** The API, on the origin of the page. */
export const api: Api = connect("/", { headers: () => ({ authorization: readKey() }) });

/** How many entities any list gives in one answer. */
export const PAGE_SIZE = 20;

/** What a list is asked for. */
export interface Wanted {
  /** The page, counted from 1, and its size. */
  readonly pagination?: { readonly page: number; readonly perPage: number } | undefined;
  /** The order. The server declares which ones there are. */
  readonly sort?: { readonly field: string; readonly order: string } | undefined;
  /** What is typed into the filters of the page, and what its references ask for. */
  readonly filter: {
    readonly name?: string;
    readonly since?: number;
    readonly actors?: string;
    readonly ids?: readonly string[];
  };
}

/** What all entities have. */
export interface Entity {
  readonly _id: string;
  readonly poster?: FileJson;
}

export const movies: Resource<Movie> = api.resource("/movies");
const actors = api.resource<Actor>("/actors");

/** How each list is asked. The compiler checks the queries against the classes of the server. */
export const LISTS: Readonly<Record<string, (wanted: Wanted) => Promise<Page<Entity>>>> = {
  movies: ({ pagination: { page, perPage } = FIRST, sort, filter: { since, actors, ...others } }) =>
    movies.all({
      q: {
        ...byName(others),
        ...since && { year: { $gte: since } },
        ...actors !== undefined && { actors },
      },
      sort: sort && [sortName(sort) as SortName<Movie>],
      skip: (page - 1) * perPage,
      limit: perPage,
      count: true,
    }),
  // Their pages are those of a hook: 20 actors, no total
  actors: ({ pagination: { page } = FIRST, filter }) =>
    actors.all({ q: byName(filter), parameters: { page: String(page - 1) } }),
};

const FIRST = { page: 1, perPage: PAGE_SIZE };

function byName({ name, ids }: Wanted["filter"]) {
  return {
    ...name && { name: { $regex: RegExp.escape(name), $options: "i" } },
    ...ids && { _id: { $in: ids } },
  };
}

function sortName({ field, order }: NonNullable<Wanted["sort"]>): string {
  return (order === "DESC" ? "-" : "") + (field === "id" ? "_id" : field);
}
