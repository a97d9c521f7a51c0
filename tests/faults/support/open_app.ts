import { fileURLToPath } from "node:url";
import { client } from "../../client.ts";
import { withDatabase } from "../../harness/database_uri.ts";
import { startApp } from "../../reach/support/start_app.ts";

/** How the application is. */
export interface AppState {
  readonly pid: number;
  /** The promises that nobody waited for, and that were rejected. */
  readonly rejections: readonly string[];
  /** The requests that were answered 500, and why. */
  readonly failures: readonly string[];
  /** What JavaScript holds of the memory, in bytes. */
  readonly heapUsed: number;
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

/** Starts the application in a process of its own; each of the `tenants` has a database at a URI. */
export async function openApp(uri: string, tenants: Readonly<Record<string, string>> = {}) {
  const named = withDatabase(uri, DATABASE);
  const options = `maxPoolSize=${POOL}&appName=${APP_NAME}`;
  const env = {
    FAULTS_URI: `${named}${named.includes("?") ? "&" : "?"}${options}`,
    FAULTS_TENANTS: JSON.stringify(tenants),
  };
  const run = ["run", "--quiet", "--no-check", "-A", "tests/faults/support/app.ts"];
  const app = await startApp([Deno.execPath(), ...run], { cwd: ROOT, env });
  const api = client(app.url);
  return { ...app, ...api, state: () => api.read<AppState>("/state") };
}
