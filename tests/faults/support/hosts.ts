import { fileURLToPath } from "node:url";
import { tryCommand } from "../../reach/support/run_command.ts";

/** The hosts to make. */
export interface HostsPlan {
  readonly hosts: readonly string[];
  /** The host of the test itself, which is no namespace. */
  readonly testHost: string;
  /** How the names of namespaces and devices begin. */
  readonly prefix: string;
}

/** What happens to packets on their way. Those of the test itself are not late, and can be cut. */
export interface Disturbance {
  /** The time of the way between two hosts, and the share of the packets that are lost on it. */
  readonly late?: { readonly ms: number; readonly loss: number };
  /** The ways on which all packets are lost, without a word to their senders. */
  readonly cut?: readonly (readonly [from: string, to: string])[];
}

/** A line for the process that makes hosts: everything that it has to know. */
export interface HostsCommand extends Required<Disturbance> {
  readonly addresses: Readonly<Record<string, string>>;
}

/** Hosts that know each other by their names; disposing ends them with their processes. */
export interface Hosts extends AsyncDisposable {
  addressOf(name: string): string;
  /** Makes a command that runs another one on a host. */
  on(name: string, command: readonly [string, ...string[]]): readonly [string, ...string[]];
  /** Disturbs the network, and nothing else than what it is told this time. */
  disturb(disturbance: Disturbance): Promise<void>;
  /** Gives new addresses to hosts. Nothing can be sent to the earlier ones any more. */
  move(names: readonly string[]): Promise<void>;
}

/** The host of the test itself. */
export const TEST = "test";

const MAIN = fileURLToPath(new URL("./hosts_main.ts", import.meta.url));

/** Tells why hosts cannot be made on this machine, if they cannot. */
export async function whyNoHosts(): Promise<string | undefined> {
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return "hosts need Linux and root";
  const isThere = await Deno.stat("/dev/net/tun").then(() => true, () => false);
  if (!isThere) return "hosts need /dev/net/tun";
  const name = newPrefix();
  const trial = tryCommand("ip", ["netns", "add", name], { cwd: "/" });
  const made = await trial.catch(() => ({ code: 1, output: "there is no ip: install iproute2" }));
  if (made.code !== 0) return made.output;
  await tryCommand("ip", ["netns", "del", name], { cwd: "/" });
  return undefined;
}

function newPrefix(): string {
  return `mg${crypto.randomUUID().slice(0, 6)}`;
}

/** Both ways between two groups of hosts. */
export function between(some: readonly string[], others: readonly string[]) {
  return some.flatMap((one) => others.flatMap((two) => [[one, two], [two, one]] as const));
}

/** Makes hosts with a network between them and this process. */
export async function openHosts(names: readonly string[]): Promise<Hosts> {
  const hosts = [TEST, ...names];
  const plan: HostsPlan = { hosts, testHost: TEST, prefix: newPrefix() };
  const run = ["run", "--quiet", "--no-check", "-A", MAIN, JSON.stringify(plan)];
  const child = new Deno.Command(Deno.execPath(), { args: run, stdin: "piped", stdout: "piped" })
    .spawn();
  const [input, output] = [child.stdin.getWriter(), child.stdout.getReader()];
  const [third = 0] = crypto.getRandomValues(new Uint8Array(1));
  let last = 0;
  const addresses = new Map(hosts.map((name) => [name, `10.213.${third}.${++last}`]));
  let disturbance: Disturbance = {};
  const tell = async () => {
    const { late = { ms: 0, loss: 0 }, cut = [] } = disturbance;
    const command: HostsCommand = { addresses: Object.fromEntries(addresses), late, cut };
    await input.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
    const { done } = await output.read();
    if (done) throw new Error("Cannot make hosts: their process has ended");
  };
  await tell();
  return {
    addressOf: (name) => addresses.get(name) ?? name,
    on: (name, command) => ["ip", "netns", "exec", `${plan.prefix}-${name}`, ...command],
    async disturb(next) {
      disturbance = next;
      await tell();
    },
    async move(moved) {
      for (const name of moved) addresses.set(name, `10.213.${third}.${++last}`);
      await tell();
    },
    async [Symbol.asyncDispose]() {
      await input.close();
      await output.cancel();
      await child.status;
    },
  };
}
