import { connect, type FileResource, type FrameworkModel } from "@mongrove/mongrove/client";
import type { Page } from "@mongrove/mongrove/client";
import { createContext, useContext } from "react";
import type { PageDocument, PageModel } from "../src/admin/document.ts";
import { readHeaders } from "./session.ts";

export type Entity = Readonly<Record<string, unknown>> & { readonly _id: string };

export interface Options {
  readonly q?: object;
  readonly sort?: readonly string[];
  readonly skip?: number;
  readonly limit?: number;
  readonly after?: number;
  readonly names?: boolean;
  readonly search?: string;
  readonly populate?: readonly string[];
  readonly count?: boolean;
  readonly trash?: "only";
  readonly next?: string;
  readonly ifMatch?: object;
  readonly maxAffected?: number;
  readonly method?: "GET" | "POST";
  readonly signal?: AbortSignal;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** The operations have no types of a class, because the page learns the fields at run time. */
export interface AnyResource {
  all(options?: Options): Promise<Page<Entity>>;
  live(options?: Options): AsyncIterable<readonly Entity[]>;
  one(id: string, options?: Options): Promise<Entity>;
  create(body: object): Promise<Entity>;
  update(id: string, body: object, options?: Options): Promise<Entity>;
  replace(key: string, body: object, options?: Options): Promise<Entity>;
  updateAll(body: object, options: Options): Promise<unknown>;
  remove(id: string, options?: Options): Promise<unknown>;
  removeAll(options: Options): Promise<unknown>;
  history(id: string, options?: Options): Promise<readonly HistoryRecord[]>;
  revert(id: string, version: number, options?: Options): Promise<Entity>;
  restore(id: string, options?: Options): Promise<Entity>;
  action(name: string, ...args: readonly unknown[]): Promise<unknown>;
  file(property: string, id: string): FileResource;
}

export interface HistoryRecord {
  readonly version: number;
  readonly at: string;
  readonly actor?: string | number;
  readonly actorName?: string;
  readonly operation: string;
  readonly changed: readonly string[];
  readonly before: Readonly<Record<string, unknown>>;
}

export interface PageAccess {
  readonly document: PageDocument;
  readonly open: (path: string) => AnyResource;
  /** The URL of a path, for requests without the client. */
  readonly urlOf: (path: string) => string;
  /** The actions that the last `Link` header of `one()` has named. */
  readonly actionsOf: (path: string, id: string) => ReadonlySet<string>;
  /** Missing if a login would show no more. */
  readonly askLogin: (() => void) | undefined;
}

export function openPage(
  document: PageDocument,
  { askLogin, onRefused }: Pick<PageAccess, "askLogin"> & {
    readonly onRefused: () => void;
  },
): PageAccess {
  const { pathname } = new URL(document.apiPath, location.href);
  const urlOf = (path: string) => pathname.replace(/\/+$/, "") + path;
  const actions = new Map<string, ReadonlySet<string>>();
  const api = connect(pathname, {
    headers: readHeaders,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (response.status === 401) onRefused();
      if (init.method === "GET") {
        actions.set(pathOf(url), namedActions(response.headers.get("link")));
      }
      return response;
    },
  });
  const actionsOf = (path: string, id: string) =>
    actions.get(pathOf(urlOf(`${path}/${encodeURIComponent(id)}`))) ?? new Set<string>();
  // The types of the client need the class of a route, and the page has no classes.
  const open = (path: string) => api.resource<FrameworkModel>(path) as unknown as AnyResource;
  return { document, open, urlOf, actionsOf, askLogin };
}

function pathOf(url: string): string {
  return new URL(url, location.href).pathname;
}

/** The header `</tickets/1/close>; rel="action"` has the name `close`. */
export function namedActions(link: string | null): ReadonlySet<string> {
  const targets = (link ?? "").matchAll(/<([^>]*)>[^,<]*;\s*rel="?action"?/g);
  const names = [...targets].map(([, target = ""]) =>
    target.split("?")[0]?.split("/").at(-1) ?? ""
  );
  return new Set(names.map(decodeURIComponent));
}

export const PageContext = createContext<PageAccess | undefined>(undefined);

export function usePage(): PageAccess {
  const page = useContext(PageContext);
  if (page === undefined) throw new TypeError("The page has no PageContext");
  return page;
}

export function useModel(name: string): PageModel {
  const model = usePage().document.models.find((each) => each.name === name);
  if (model === undefined) throw new TypeError(`The page has no model "${name}"`);
  return model;
}
