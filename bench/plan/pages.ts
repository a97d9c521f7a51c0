/** A page that a server is asked for, the highest rank first. */
export interface Page {
  /** The path of the list, without the leading slash. */
  readonly route: string;
  /** The number of entities. */
  readonly size: number;
  /** Whether each entity comes with its writer. */
  readonly isPopulated?: boolean;
}

/** The request for a page, as one kind of server wants it. */
export interface PageRequest {
  /** The HTTP method. */
  readonly method: "GET" | "POST";
  /** The path with the query. */
  readonly path: string;
  /** The JSON text; the empty string for none. */
  readonly body: string;
}

/** Puts a page into the words of a kind of server. */
export type Wording = (page: Page) => PageRequest;

/** Asks Mongrove, and what is written by hand, for the total. */
export const WITH_TOTAL: Readonly<Record<string, string>> = { prefer: "count=exact" };

/** The words of Mongrove, of express-restify-mongoose, and of what is written by hand. */
export const askPlainly: Wording = ({ route, size, isPopulated }) =>
  get(`/${route}?limit=${size}&sort=-rank${isPopulated ? "&populate=writer" : ""}`);

/** The words of Feathers; what is populated, its hook says. */
export const askFeathers: Wording = ({ route, size }) =>
  get(`/${route}?$limit=${size}&$sort[rank]=-1`);

/**
 * The words of remult's client when it asks for a page and for its total at once. Its adapter sends
 * an empty `$sort` with the total, which MongoDB refuses, unless that has an order.
 */
export const askRemult: Wording = ({ route, size }) => ({
  method: "POST",
  path: `/${route}?__action=query&_limit=${size}&_sort=rank&_order=desc`,
  body: JSON.stringify({ where: {}, aggregate: { orderBy: [{ operation: "count" }] } }),
});

function get(path: string): PageRequest {
  return { method: "GET", path, body: "" };
}
