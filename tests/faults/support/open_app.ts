import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { client } from "../../support/client.ts";
import { withDatabase } from "../../harness/database_uri.ts";
import { startApp } from "../../reach/support/start_app.ts";

/** How the application is. */
export interface AppState {
  readonly pid: number;
  /** The promises that nobody waited for, and that were rejected. */
  readonly rejections: readonly string[];
  /** The requests that were answered 500, and why. */
  readonly failures: readonly string[];
  /** The requests that were answered 503, and why. A cause that repeats is told once in a minute. */
  readonly outages: readonly string[];
  /** What JavaScript holds of the memory, in bytes. */
  readonly heapUsed: number;
  /** The bytes that JavaScript holds outside of its heap. */
  readonly external: number;
  /** What the process has of the memory of the machine, in bytes. */
  readonly rss: number;
  /** The connections of clients. */
  readonly sockets: number;
}

/** The most connections that the application opens to one member. */
export const POOL = 20;

/** The name under which the database knows the application. */
export const APP_NAME = "faults";

/** The database of the application. */
export const DATABASE = "faults";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

const SUPPORT = fileURLToPath(new URL(".", import.meta.url));

/** What an application may be given besides its database. */
interface OpenOptions {
  /** Tenants, each with the URI of its database. */
  readonly tenants?: Readonly<Record<string, string>>;
  /** The name of its database. */
  readonly database?: string;
  /** The time that a client has for a piece of an answer. */
  readonly sendMs?: number;
  /** The file of the application, if it is another one. */
  readonly main?: string;
  /** More flags of V8. */
  readonly v8Flags?: readonly string[];
  /** What runs it in the place of Deno. */
  readonly command?: readonly [string, ...string[]];
  /** Where it runs, if that is not this host. */
  readonly place?: {
    readonly address: string;
    readonly on: (command: readonly [string, ...string[]]) => readonly [string, ...string[]];
  };
}

/** Starts the application in a process of its own. */
export async function openApp(uri: string, options: OpenOptions = {}) {
  const { tenants = {}, database = DATABASE, sendMs = 60_000, main = "app.ts", v8Flags = [] } =
    options;
  const named = withDatabase(uri, database);
  const pool = `maxPoolSize=${POOL}&appName=${APP_NAME}`;
  const env = {
    FAULTS_URI: `${named}${named.includes("?") ? "&" : "?"}${pool}`,
    FAULTS_TENANTS: JSON.stringify(tenants),
    FAULTS_SEND: String(sendMs),
  };
  const file = join(SUPPORT, main);
  const flags = `--v8-flags=${["--expose-gc", ...v8Flags]}`;
  const deno = [Deno.execPath(), "run", "--quiet", flags, "--no-check", "-A", file] as const;
  const command = options.command ?? deno;
  const { on = () => command, address } = options.place ?? {};
  const host = address && { HOST: address };
  const app = await startApp(on(command), {
    cwd: ROOT,
    env: { ...env, ...host },
    ...address && { address },
  });
  const api = client(app.url);
  return { ...app, ...api, state: () => api.read<AppState>("/state") };
}
