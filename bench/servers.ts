/** The servers that are measured. @module */
import type { Traffic } from "./scenarios.ts";

/** A page by rank, the highest first. */
export interface Page {
  readonly route: string;
  readonly size: number;
  readonly isPopulated?: boolean;
}

/** A program that serves the collections. */
interface Program {
  readonly name: string;
  readonly title: string;
  /** The file in `bench/servers`. */
  readonly file: string;
  /** The folder of npm packages, a key of {@linkcode PACKAGES}. */
  readonly folder: string;
  /** Capabilities that not every server has, separated by spaces. */
  readonly features: string;
  readonly update: "PATCH" | "PUT";
  /** Returns the request for a page, as far as it is not a GET without a body. */
  readonly askPage: (page: Page) => Partial<Traffic>;
}

/** A program on a runtime, with an id such as `node/bare`, and a title such as `Mongrove, Node`. */
export interface Server extends Program {
  readonly id: string;
  readonly runtime: "deno" | "node";
}

/** The server that all others are compared with. */
export const BASELINE = "bare";
export const OURS = "mongrove";
export const LEAN = "express_lean";
export const HYDRATED = "express_hydrated";
export const DRIVER = "express_driver";

/** The npm packages of each folder. An empty range is that of deno.json. */
export const PACKAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tools: { esbuild: "0.28.2" },
  stack: {
    express: "",
    mongoose: "",
    passport: "0.7.0",
    "passport-http-bearer": "1.0.1",
  },
  "restify_mongoose": { "express-restify-mongoose": "9.0.13", express: "^5" },
  remult: { remult: "3.3.18", express: "^5", mongodb: "^6" },
  terreno: { "@terreno/api": "57.4.0", express: "^5", mongoose: "^9", zod: "^4" },
  feathers: {
    "@feathersjs/feathers": "5.0.50",
    "@feathersjs/express": "5.0.50",
    "@feathersjs/mongodb": "5.0.50",
    mongodb: "^6",
  },
};

/** Returns a program in a file and a folder of its name, if there is one. Servers by hand have Mongrove's packages. */
function program(
  name: string,
  title: string,
  features: string,
  more: Partial<Program> = {},
): Program {
  const folder = Object.hasOwn(PACKAGES, name) ? name : "stack";
  const askPage = ({ route, size, isPopulated }: Page) => {
    const populate = isPopulated ? "&populate=writer" : "";
    return { paths: [`/${route}?limit=${size}&sort=-rank${populate}`] };
  };
  return { name, title, features, folder, file: name, update: "PATCH", askPage, ...more };
}

const ALL =
  "hook lean-hook documents lean named page populate deep wide groups options writes keys";
const ofLean = "lean-hook lean named page populate wide options writes keys";
const express = { file: "express_mongoose" };

const PROGRAMS: readonly Program[] = [
  program(BASELINE, "node:http + driver", "hook lean-hook page populate wide"),
  program(OURS, "Mongrove", `${ALL} files models`),
  program(DRIVER, "Express + driver", "lean-hook lean page populate wide groups files"),
  program(LEAN, "Express + lean Mongoose", ofLean, express),
  program(HYDRATED, "Express + Mongoose", "hook documents page populate wide", express),
  program("restify_mongoose", "express-restify-mongoose", "lean-hook page populate"),
  program("terreno", "@terreno/api", "page populate", {
    askPage: ({ route, size }) => ({ paths: [`/${route}?limit=${size}&sort=-rank`] }),
  }),
  program("remult", "remult", "page", {
    update: "PUT",
    // The request of remult's client for a page with its total. The adapter sends an empty `$sort`
    // with the total, which MongoDB refuses, unless the total has an order.
    askPage: ({ route, size }) => ({
      method: "POST",
      paths: [`/${route}?__action=query&_limit=${size}&_sort=rank&_order=desc`],
      bodies: [JSON.stringify({ where: {}, aggregate: { orderBy: [{ operation: "count" }] } })],
    }),
  }),
  program("feathers", "Feathers", "lean-hook page populate", {
    askPage: ({ route, size }) => ({ paths: [`/${route}?$limit=${size}&$sort[rank]=-1`] }),
  }),
];

/** All servers, in the order of tables. */
export const SERVERS: readonly Server[] = (["node", "deno"] as const).flatMap((runtime) =>
  PROGRAMS.map((program) => {
    const title = `${program.title}, ${runtime === "deno" ? "Deno" : "Node"}`;
    return { ...program, runtime, id: `${runtime}/${program.name}`, title };
  })
);

/** The application of `large` and `live`. */
export const LARGE: Server = { ...program("large", OURS, ""), id: "deno/large", runtime: "deno" };

/** Returns the traffic as a server understands it: with its request for a page, and its method of updates. */
export function trafficOf<T extends Traffic>({ askPage, update }: Server, traffic: T): T {
  const asked = { ...traffic, ...traffic.page && askPage(traffic.page) };
  return { ...asked, method: asked.method === "UPDATE" ? update : asked.method };
}

/** Whether a server has a capability, if one is needed. */
export const hasFeature = ({ features }: Server, feature: string = ""): boolean =>
  feature === "" || features.split(" ").includes(feature);

/** Returns the id of another program on the runtime of a server. */
export const besideOf = (server: string, name: string): string => `${server.split("/")[0]}/${name}`;

/**
 * Returns the servers with these names: `mongrove` on its usual runtimes, or `node/mongrove`. The baseline of each runtime
 * is among them. Without names, all servers on their usual runtimes. Throws if a name is unknown.
 */
export function chooseServers(names: readonly string[]): Server[] {
  const unknown = names.find((each) =>
    !SERVERS.some(({ id, name }) => each === id || each === name)
  );
  if (unknown !== undefined) {
    const known = PROGRAMS.map(({ name }) => name).join(", ");
    throw new TypeError(`Cannot run server "${unknown}": the servers are ${known}`);
  }
  const chosen = SERVERS.filter(({ id, name, folder, runtime }) => {
    // Peers are measured on Node, unless the command line names Deno
    const isUsual = folder === "stack" || runtime === "node";
    return names.includes(id) || isUsual && (names.length === 0 || names.includes(name));
  });
  return SERVERS.filter((server) =>
    chosen.includes(server) ||
    server.name === BASELINE && chosen.some(({ runtime }) => runtime === server.runtime)
  );
}
