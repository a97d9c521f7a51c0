import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { runHook } from "../../declare/hooks/run_hook.ts";
import type { Admission, PluginRequest } from "../../declare/plugins/plugin.ts";
import type { TimeBudget } from "../../store/time_budget.ts";
import type { PluginSet } from "./plugin_set.ts";

interface Admitted {
  readonly via?: string;
  readonly hides: readonly string[];
  readonly admissions: readonly Admission[];
}

interface AskedClient {
  readonly done: Promise<Admitted>;
  admitted?: Admitted;
}

/** By the request of the client, which all requests of a batch share. */
const clients = new WeakMap<object, AskedClient>();

interface AdmittedRequest {
  readonly req: FrameworkRequest;
  /** The request of the client, from which `req` may be made. */
  readonly client: object;
  readonly plugins: PluginSet;
  readonly timeBudget: TimeBudget;
}

export async function admitClient(
  { req, client, plugins, timeBudget }: AdmittedRequest,
): Promise<void> {
  if (plugins.admitting.length === 0) return;
  let asked = clients.get(client);
  if (asked === undefined) {
    const begun: AskedClient = { done: askPlugins(client as PluginRequest, plugins) };
    // Nobody may wait for it after the end of the time.
    begun.done.then((admitted) => begun.admitted = admitted, () => {});
    clients.set(client, asked = begun);
  }
  const { hides } = asked.admitted ?? await timeBudget.wait(asked.done);
  // A request that was made before has copies of the headers.
  if (req !== client) hideHeaders(req, hides);
}

async function askPlugins(req: PluginRequest, { admitting }: PluginSet): Promise<Admitted> {
  const admissions: Admission[] = [];
  for (const { admit } of admitting) {
    const admission = await runHook("plugin", () => admit?.(req));
    if (admission !== undefined) admissions.push(admission);
  }
  const hides = admissions.flatMap(({ hides = [] }) => hides).map((name) => name.toLowerCase());
  hideHeaders(req, hides);
  const [via] = admissions.flatMap(({ via }) => via ?? []);
  return { admissions, hides, ...via !== undefined && { via } };
}

/** `undefined` before the client is admitted. */
export function viaOf(client: object): string | undefined {
  return clients.get(client)?.admitted?.via;
}

/** A request may last longer than its admission. */
export async function renewAdmission({ client, timeBudget }: AdmittedRequest): Promise<void> {
  const { admissions } = clients.get(client)?.admitted ?? { admissions: [] };
  for (const { renew } of admissions) {
    await timeBudget.wait(Promise.resolve(runHook("plugin", () => renew?.())));
  }
}

/** Node makes `headersDistinct` of all `rawHeaders` when it is read first. */
export function hideHeaders(req: PluginRequest, names: readonly string[]): void {
  if (names.length === 0) return;
  for (const headers of [req.headers, req.headersDistinct]) {
    for (const name of names) delete headers[name];
  }
  const isHidden = (name = "") => names.includes(name.toLowerCase());
  req.rawHeaders = req.rawHeaders.filter((_, index, all) => !isHidden(all[index - index % 2]));
}
