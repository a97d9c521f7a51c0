import { askFeathers, askPlainly, askRemult, type Wording } from "./pages.ts";

/** What runs a server. */
export type Runtime = "deno" | "node";

/** A program that serves the collections. */
export interface ServerKind {
  /** Its name on the command line; its file in `bench/servers` has the same one. */
  readonly name: string;
  /** Its name in tables. */
  readonly title: string;
  /** The folder of npm packages that it runs in, a key of {@linkcode PACKAGES}. */
  readonly folder: string;
  /** The method of its updates. */
  readonly update: "PATCH" | "PUT";
  /** How it is asked for a page. */
  readonly askPage: Wording;
  /** The runtimes that it is measured on unless it is named. */
  readonly runtimes: readonly Runtime[];
}

/** A program on a runtime. */
export interface Server {
  /** Such as `node/bare`. */
  readonly id: string;
  /** What runs it. */
  readonly runtime: Runtime;
  /** What it runs. */
  readonly kind: ServerKind;
}

/** The kind that all others are held against. */
export const BASELINE = "bare";

/** What people write by hand who know Mongoose well: goals of pages are held against it. */
export const LEAN = "express_lean";

/** The kind that this bench is about. */
export const OURS = "mongrove";

const BOTH: readonly Runtime[] = ["node", "deno"];
const NODE: readonly Runtime[] = ["node"];

/** The npm packages of each folder. Those of `stack` come from deno.json, as Mongrove uses them. */
export const PACKAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  stack: { express: "", mongoose: "" },
  restify: { "express-restify-mongoose": "9.0.13", express: "^5" },
  remult: { remult: "3.3.18", express: "^5", mongodb: "^6" },
  feathers: {
    "@feathersjs/feathers": "5.0.50",
    "@feathersjs/express": "5.0.50",
    "@feathersjs/mongodb": "5.0.50",
    mongodb: "^6",
  },
  restgoose: {
    "@xureilab/restgoose": "1.1.8",
    "reflect-metadata": "^0.1",
    express: "^4",
    mongoose: "^5",
  },
};

/** All programs, the baseline first. */
export const KINDS: readonly ServerKind[] = [
  kind("bare", "node:http + driver", "stack", BOTH),
  kind("mongrove", "Mongrove", "stack", BOTH),
  kind("express_driver", "Express + driver", "stack", BOTH),
  kind("express_lean", "Express + lean Mongoose", "stack", BOTH),
  kind("express_hydrated", "Express + Mongoose", "stack", BOTH),
  kind("restify_mongoose", "express-restify-mongoose", "restify", NODE),
  { ...kind("remult", "remult", "remult", NODE), update: "PUT", askPage: askRemult },
  { ...kind("feathers", "Feathers", "feathers", NODE), askPage: askFeathers },
  kind("restgoose", "restgoose", "restgoose", NODE),
];

function kind(
  name: string,
  title: string,
  folder: string,
  runtimes: readonly Runtime[],
): ServerKind {
  return { name, title, folder, update: "PATCH", askPage: askPlainly, runtimes };
}

/**
 * Chooses servers by name: `mongrove` on both runtimes, or `node/mongrove`. The baseline of every
 * runtime in use is always among them.
 *
 * @param names The names; none for the usual ones.
 * @returns The servers, by runtime.
 * @throws {TypeError} If a name is unknown.
 */
export function chooseServers(names: readonly string[]): Server[] {
  const all = BOTH.flatMap((runtime) =>
    KINDS.map((each): Server => ({ id: `${runtime}/${each.name}`, runtime, kind: each }))
  );
  const unknown = names.find((name) => !all.some((server) => isNamed(server, name)));
  if (unknown !== undefined) {
    const known = KINDS.map(({ name }) => name).join(", ");
    throw new TypeError(`Cannot run server "${unknown}": the servers are ${known}`);
  }
  const chosen = all.filter((server) =>
    names.length === 0
      ? server.kind.runtimes.includes(server.runtime)
      : names.some((name) => isNamed(server, name))
  );
  const runtimes = new Set(chosen.map(({ runtime }) => runtime));
  return all.filter((server) =>
    chosen.includes(server) || server.kind.name === BASELINE && runtimes.has(server.runtime)
  );
}

function isNamed({ id, kind, runtime }: Server, name: string): boolean {
  return name === id || name === kind.name && kind.runtimes.includes(runtime);
}
