import { hookFailure } from "../../declare/hooks/run_hook.ts";
import type { Plugin, PluginCall, PluginOperation } from "../../declare/plugins/plugin.ts";
import { badParameter } from "../../errors/refusals.ts";
import { queryOf } from "../../filter/query_string.ts";
import type { Call } from "../request/request_context.ts";
import { setHeader } from "../request/response.ts";
import { viaOf } from "./admit_client.ts";
import { needsOf, operationOfRoute } from "./operation_names.ts";
import type { PluginSet } from "./plugin_set.ts";

export type Purpose = PluginCall["purpose"];

interface Surrounded<T> {
  readonly purpose: Purpose;
  /** Reads the parameters. Plugins run before its error is thrown, so that a refused client does not see it. */
  readonly read: () => Call;
  readonly run: (call: Call) => Promise<T>;
  /** `false` if the answer is that of another route. */
  readonly setsHeaders?: boolean;
}

export async function runAround<T>(
  call: Call,
  { purpose, read, run, setsHeaders = true }: Surrounded<T>,
): Promise<T> {
  const { plugins } = call.route;
  if (plugins.surrounding.length === 0) return await run(read());
  const parsed = attempt(read);
  const { actor } = call.context.state;
  return await surround(plugins, {
    facts: () => ({
      ...operationOfRoute(call.route),
      needs: needsOf("value" in parsed ? parsed.value : call, plugins.readerOf),
      tenant: call.route.features.tenantOf(call),
      actor,
    }),
    req: call.req,
    client: call.client,
    purpose,
    setsHeaders,
    run: async () => {
      if ("error" in parsed) throw parsed.error;
      return await run(parsed.value);
    },
  });
}

type Outcome<R> = { readonly value: R } | { readonly error: unknown };

function attempt<R>(work: () => R): Outcome<R> {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

interface SurroundedCall<T> extends Pick<Surrounded<T>, "purpose" | "setsHeaders"> {
  readonly run: () => Promise<T>;
  readonly facts: () => PluginOperation & Pick<PluginCall, "needs"> & {
    readonly actor: PluginCall["actor"] | undefined;
    readonly tenant: PluginCall["tenant"] | undefined;
  };
  readonly req: Call["req"];
  readonly client: object;
}

/** The first plugin is the outermost. */
export async function surround<T>(
  { surrounding }: PluginSet,
  { facts, req, client, purpose, run, setsHeaders = true }: SurroundedCall<T>,
): Promise<T> {
  const { actor, tenant, ...operation } = facts();
  const [via, res] = [viaOf(client), setsHeaders ? req.res : undefined];
  const shared = {
    ...operation,
    req,
    purpose,
    ...actor !== undefined && { actor },
    ...tenant !== undefined && { tenant },
    ...via !== undefined && { via },
    setHeader: (name: string, value: string) => res && setHeader(res, [name, value]),
  };
  let outcome: Outcome<T> | undefined;
  const step = async (index: number): Promise<void> => {
    const plugin = surrounding[index];
    if (plugin === undefined) {
      try {
        outcome = { value: await run() };
      } catch (error) {
        outcome = { error };
        throw error;
      }
      return;
    }
    let running: Promise<void> | undefined;
    let isOver = false;
    const next = () => {
      if (running !== undefined || isOver) return misused(plugin);
      // The plugin may ignore this promise, but an unhandled rejection would end the process.
      running = step(index + 1);
      running.catch(() => {});
      return running;
    };
    const names = Object.keys(plugin.parameters ?? {});
    const parameter = (name: string) => parameterOf(req, { name, names });
    try {
      await plugin.around?.({ ...shared, parameter }, next);
    } catch (error) {
      const isOfNext = outcome !== undefined && "error" in outcome && outcome.error === error;
      const thrown = isOfNext ? error : hookFailure("plugin", error);
      // If an outer plugin catches the error, the request must still fail.
      outcome ??= { error: thrown };
      throw thrown;
    } finally {
      isOver = true;
      // Waits, because nothing may run after the answer.
      await Promise.resolve(running).catch(() => {});
    }
    if (running === undefined) {
      throw new TypeError(`The plugin "${plugin.name}" has neither called next() nor thrown`);
    }
  };
  await step(0);
  if (outcome === undefined) throw new TypeError("The work of a request has no outcome");
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

function misused({ name }: Plugin): Promise<never> {
  const refused = Promise.reject(
    new TypeError(`The plugin "${name}" has called next() twice, or too late`),
  );
  refused.catch(() => {});
  return refused;
}

function parameterOf(
  { url }: Pick<Call["req"], "url">,
  { name, names }: { readonly name: string; readonly names: readonly string[] },
): string | undefined {
  if (!names.includes(name)) throw new TypeError(`The plugin has no parameter "${name}"`);
  const given = new URLSearchParams(queryOf(url)).getAll(name);
  if (given.length > 1) throw badParameter(name, "one value");
  return given[0];
}
