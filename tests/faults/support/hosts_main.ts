/**
 * Makes hosts: network namespaces between which this process carries the packets, late or never, as its input says. Each
 * line of the input is answered by a byte. When the input ends, the hosts and their processes are gone.
 *
 * @module
 */
import { createInterface } from "node:readline";
import process from "node:process";
import { runCommand } from "../../reach/support/run_command.ts";
import type { HostsCommand, HostsPlan } from "./hosts.ts";

const { hosts, prefix, testHost }: HostsPlan = JSON.parse(Deno.args[0] ?? "");

/** `struct ifreq` has the name of a device and its flags. */
const [NAME_BYTES, IFREQ_BYTES] = [16, 40];

/** Packets of IP, without the four bytes before them. */
const TUN_WITHOUT_INFO = 0x1001;

const SET_DEVICE = 0x400454can;

const READ_AND_WRITE = 2;

const MTU = 1500;

const { symbols: libc } = Deno.dlopen("libc.so.6", {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  ioctl: { parameters: ["i32", "usize", "buffer"], result: "i32" },
  write: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize", nonblocking: true },
});

/** Makes a device whose packets come to this process. */
function openDevice(name: string): number {
  const bytes = (text: string) => new TextEncoder().encode(`${text}\0`);
  const fd = libc.open(bytes("/dev/net/tun"), READ_AND_WRITE);
  const request = new Uint8Array(IFREQ_BYTES);
  request.set(bytes(name));
  new DataView(request.buffer).setUint16(NAME_BYTES, TUN_WITHOUT_INFO, true);
  if (fd < 0 || libc.ioctl(fd, SET_DEVICE, request) < 0) throw new Error(`Cannot make ${name}`);
  return fd;
}

const ip = (...args: string[]) => runCommand("ip", args, { cwd: "/" });

const namespaceOf = (name: string) => `${prefix}-${name}`;

const deviceOf = (index: number) => `${prefix}${index}`;

let state: HostsCommand = { addresses: {}, late: { ms: 0, loss: 0 }, cut: [] };

let hostsByAddress = new Map<string, string>();

const files = new Map<string, number>();

/** Gives a host its address, and has it forget an earlier one. */
async function setAddress(name: string, address: string, index: number): Promise<void> {
  const at = name === testHost ? [] : ["-n", namespaceOf(name)];
  await ip(...at, "addr", "flush", "dev", deviceOf(index));
  await ip(...at, "addr", "add", `${address}/24`, "dev", deviceOf(index));
  await ip(...at, "link", "set", deviceOf(index), "up");
}

/** Obeys a line of the input. */
async function obey(next: HostsCommand): Promise<void> {
  for (const [index, name] of hosts.entries()) {
    const address = next.addresses[name] ?? "";
    if (address !== state.addresses[name]) await setAddress(name, address, index);
  }
  const names = Object.entries(next.addresses).map(([name, address]) => `${address} ${name}\n`);
  for (const name of hosts) {
    if (name === testHost) continue;
    // The file stays the same one, because processes of the host see this one in the place of /etc/hosts
    const text = `127.0.0.1 localhost\n${names.join("")}`;
    await Deno.writeTextFile(`/etc/netns/${namespaceOf(name)}/hosts`, text);
  }
  state = next;
  hostsByAddress = new Map(Object.entries(next.addresses).map(([name, at]) => [at, name]));
}

const PLACE_OF_SENDER = 12;

/** Carries the packets of a host. */
async function carry(from: string, fd: number): Promise<void> {
  for (;;) {
    const packet = new Uint8Array(MTU);
    const length = Number(await libc.read(fd, packet, BigInt(MTU)));
    if (length < 0) return;
    const addressAt = (at: number) => packet.subarray(at, at + 4).join(".");
    const [sender, to] = [PLACE_OF_SENDER, PLACE_OF_SENDER + 4]
      .map((at) => hostsByAddress.get(addressAt(at)));
    // A host that has another address now neither gets nor sends packets of the earlier one
    if (sender !== from || to === undefined) continue;
    if (state.cut.some((each) => each[0] === from && each[1] === to)) continue;
    const target = files.get(to) ?? -1;
    const deliver = () => libc.write(target, packet, BigInt(length));
    if (from === testHost || to === testHost) deliver();
    else if (Math.random() >= state.late.loss) setTimeout(deliver, state.late.ms);
  }
}

async function makeHost(name: string, index: number): Promise<void> {
  const namespace = namespaceOf(name);
  if (name !== testHost) {
    await ip("netns", "add", namespace);
    await Deno.mkdir(`/etc/netns/${namespace}`, { recursive: true });
  }
  files.set(name, openDevice(deviceOf(index)));
  if (name === testHost) return;
  await ip("link", "set", deviceOf(index), "netns", namespace);
  await ip("-n", namespace, "link", "set", "lo", "up");
}

/** Ends the processes of a host, and the host. */
async function removeHost(name: string): Promise<void> {
  const namespace = namespaceOf(name);
  const found = await ip("netns", "pids", namespace).catch(() => "");
  for (const pid of found.split("\n").filter(Boolean)) {
    try {
      Deno.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended by itself
    }
  }
  await ip("netns", "del", namespace).catch(() => {});
  await Deno.remove(`/etc/netns/${namespace}`, { recursive: true }).catch(() => {});
}

// Ctrl-C reaches all processes of a group: this one ends as soon as its input does
for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => {});
try {
  for (const [index, name] of hosts.entries()) await makeHost(name, index);
  for (const [name, fd] of files) carry(name, fd);
  for await (const line of createInterface({ input: process.stdin })) {
    await obey(JSON.parse(line));
    await Deno.stdout.write(new Uint8Array(1));
  }
} finally {
  for (const name of hosts.filter((each) => each !== testHost)) await removeHost(name);
  await Deno.remove("/etc/netns").catch(() => {});
}
Deno.exit();
