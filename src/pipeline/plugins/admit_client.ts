import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { runHook } from "../../declare/hooks/run_hook.ts";
import { hiddenIn, hideHeaders } from "../../declare/plugins/hide_headers.ts";
import type { Admission, PluginRequest } from "../../declare/plugins/plugin.ts";
import type { TimeBudget } from "../../store/time_budget.ts";
import type { PluginSet } from "./plugin_set.ts";

interface Admitted {
  readonly via?: string;
  readonly signsIn: boolean;
  readonly admissions: readonly Admission[];
}

interface AskedClient {
  readonly plugins: PluginSet;
  readonly done: Promise<Admitted>;
  admitted?: Admitted;
}

/** The key is the client's request, which requests of a batch share. */
const clients = new WeakMap<object, AskedClient>();

interface AdmittedRequest {
  readonly req: FrameworkRequest;
  readonly client: object;
  readonly plugins: PluginSet;
  readonly timeBudget: TimeBudget;
}

export async function admitClient(
  { req, client, plugins, timeBudget }: AdmittedRequest,
): Promise<void> {
  if (plugins.admitting.length === 0) return;
  let asked = clients.get(client);
  // An application may pass a request on to another router, whose plugins must admit it too.
  if (asked?.plugins !== plugins) {
    const begun: AskedClient = { plugins, done: askPlugins(client as PluginRequest, plugins) };
    // Nobody handles a rejection after the time limit, and it would end the process.
    begun.done.then((admitted) => begun.admitted = admitted, () => {});
    clients.set(client, asked = begun);
  }
  try {
    if (asked.admitted === undefined) await timeBudget.wait(asked.done);
  } finally {
    if (req !== client) hideHeaders(req, hiddenIn(client));
  }
}

async function askPlugins(req: PluginRequest, { admitting }: PluginSet): Promise<Admitted> {
  const admissions: Admission[] = [];
  for (const { admit } of admitting) {
    const admission = await runHook("plugin", () => admit?.(req));
    if (admission === undefined) continue;
    const { via = "" }: { readonly via?: unknown } = admission;
    if (typeof via !== "string" || via.length > MOST_VIA) {
      throw new TypeError(
        `Cannot record "via" of a plugin: it is no text of ${MOST_VIA} characters`,
      );
    }
    admissions.push(admission);
  }
  const [via] = admissions.flatMap(({ via }) => via ?? []);
  const signsIn = admissions.some(({ signsIn }) => signsIn === true);
  return { admissions, signsIn, ...via !== undefined && { via } };
}

const MOST_VIA = 200;

export function viaOf(client: object): string | undefined {
  return clients.get(client)?.admitted?.via;
}

export function isSignedIn(client: object): boolean {
  return clients.get(client)?.admitted?.signsIn === true;
}

/** An API key may expire during a long request. `renew` then throws. */
export async function renewAdmission({ client, timeBudget }: AdmittedRequest): Promise<void> {
  const { admissions } = clients.get(client)?.admitted ?? { admissions: [] };
  for (const { renew } of admissions) {
    await timeBudget.wait(Promise.resolve(runHook("plugin", () => renew?.())));
  }
}
