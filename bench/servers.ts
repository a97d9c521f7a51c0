/** The servers that are measured. @module */

export type Runtime = "deno" | "node";

/** A page by rank, the highest first. */
export interface Page {
  readonly route: string;
  readonly size: number;
  readonly isPopulated?: boolean;
}

/** A program that serves the collections. */
export interface ServerKind {
  readonly name: string;
  readonly title: string;
  /** The file in `bench/servers`. */
  readonly file: string;
  /** The folder of npm packages, a key of {@linkcode PACKAGES}. */
  readonly folder: string;
  /** The runtimes that it is measured on unless the command line names one. */
  readonly runtimes: readonly Runtime[];
  /** Capabilities that not every server has, separated by spaces. */
  readonly features: string;
  readonly update: "PATCH" | "PUT";
  /** Returns the request for a page, with an empty body if there is none. */
  readonly askPage: (page: Page) => Readonly<Record<"method" | "path" | "body", string>>;
}

/** A program on a runtime. */
export interface Server {
  /** Such as `node/bare`. */
  readonly id: string;
  readonly runtime: Runtime;
  readonly kind: ServerKind;
}

/** The kind that all others are compared with. */
export const BASELINE = "bare";
export const OURS = "mongrove";
export const LEAN = "express_lean";
export const HYDRATED = "express_hydrated";
export const DRIVER = "express_driver";

/** The npm packages of each folder. An empty range is that of deno.json. */
export const PACKAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tools: { esbuild: "0.28.2" },
  stack: { express: "", mongoose: "" },
  restify: { "express-restify-mongoose": "9.0.13", express: "^5" },
  remult: { remult: "3.3.18", express: "^5", mongodb: "^6" },
  terreno: { "@terreno/api": "57.4.0", express: "^5", mongoose: "^9", zod: "^4" },
  feathers: {
    "@feathersjs/feathers": "5.0.50",
    "@feathersjs/express": "5.0.50",
    "@feathersjs/mongodb": "5.0.50",
    mongodb: "^6",
  },
};

const USUAL = {
  update: "PATCH",
  askPage({ route, size, isPopulated }: Page) {
    const populate = isPopulated ? "&populate=writer" : "";
    return { method: "GET", path: `/${route}?limit=${size}&sort=-rank${populate}`, body: "" };
  },
} as const;

/** Returns a kind that runs on Mongrove's packages. */
function byHand(name: string, title: string, features: string): ServerKind {
  const file = name === LEAN || name === HYDRATED ? "express_mongoose" : name;
  return { ...USUAL, name, title, file, folder: "stack", runtimes: ["node", "deno"], features };
}

/** Returns a kind with packages of its own. */
function peer(name: string, title: string, folder: string, features: string): ServerKind {
  return { ...USUAL, name, title, file: name, folder, runtimes: ["node"], features };
}

const ALL = "hook lean-hook documents lean named page populate deep wide groups options writes";

/** All programs, in the order of tables. */
export const KINDS: readonly ServerKind[] = [
  byHand(BASELINE, "node:http + driver", "hook lean-hook page populate wide"),
  byHand(OURS, "Mongrove", ALL),
  byHand(DRIVER, "Express + driver", "lean-hook lean page populate wide groups"),
  byHand(LEAN, "Express + lean Mongoose", "lean-hook lean named page populate wide options writes"),
  byHand(HYDRATED, "Express + Mongoose", "hook documents page populate wide"),
  peer("restify_mongoose", "express-restify-mongoose", "restify", "lean-hook page populate"),
  {
    ...peer("terreno", "@terreno/api", "terreno", "page populate"),
    askPage: ({ route, size }) => ({
      method: "GET",
      path: `/${route}?limit=${size}&sort=-rank`,
      body: "",
    }),
  },
  {
    ...peer("remult", "remult", "remult", "page"),
    update: "PUT",
    // The request of remult's client for a page with its total. The adapter sends an empty `$sort`
    // with the total, which MongoDB refuses, unless the total has an order.
    askPage: ({ route, size }) => ({
      method: "POST",
      path: `/${route}?__action=query&_limit=${size}&_sort=rank&_order=desc`,
      body: JSON.stringify({ where: {}, aggregate: { orderBy: [{ operation: "count" }] } }),
    }),
  },
  {
    ...peer("feathers", "Feathers", "feathers", "lean-hook page populate"),
    askPage({ route, size }) {
      return { method: "GET", path: `/${route}?$limit=${size}&$sort[rank]=-1`, body: "" };
    },
  },
];

/** Whether a server has a capability, if one is needed. */
export function hasFeature({ features }: ServerKind, feature: string = ""): boolean {
  return feature === "" || features.split(" ").includes(feature);
}

/** Returns the id of a kind on the runtime of another server. */
export function besideOf(server: string, kind: string): string {
  return `${server.split("/")[0]}/${kind}`;
}

/** Returns the name of a server in tables, such as `Mongrove, Deno`. */
export function serverTitle(id: string): string {
  const [runtime, name] = id.split("/");
  const title = KINDS.find((kind) => kind.name === name)?.title ?? name;
  return `${title}, ${runtime === "deno" ? "Deno" : "Node"}`;
}

/**
 * Returns the servers with these names: `mongrove` on its usual runtimes, or `node/mongrove`. The baseline of each runtime
 * is among them. Without names, all servers on their usual runtimes.
 *
 * @throws {TypeError} If a name is unknown.
 */
export function chooseServers(names: readonly string[]): Server[] {
  const all = (["node", "deno"] as const).flatMap((runtime) =>
    KINDS.map((kind): Server => ({ id: `${runtime}/${kind.name}`, runtime, kind }))
  );
  const isUsual = ({ kind, runtime }: Server) => kind.runtimes.includes(runtime);
  const named = (name: string) =>
    all.filter((each) => name === each.id || name === each.kind.name && isUsual(each));
  const unknown = names.find((name) => named(name).length === 0);
  if (unknown !== undefined) {
    const known = KINDS.map(({ name }) => name).join(", ");
    throw new TypeError(`Cannot run server "${unknown}": the servers are ${known}`);
  }
  const chosen = names.length === 0 ? all.filter(isUsual) : names.flatMap(named);
  return all.filter((server) =>
    chosen.includes(server) ||
    server.kind.name === BASELINE && chosen.some(({ runtime }) => runtime === server.runtime)
  );
}
