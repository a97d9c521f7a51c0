/**
 * Harms an application as soon as it is told to, by a byte, and until its input ends.
 *
 * @module
 */
import { assert } from "@std/assert";
import { HARMS } from "./harms.ts";

const [name = "", url = ""] = Deno.args;
const harm = HARMS[name];
assert(harm, `there is no such harm: ${name}`);

const wait = () => Deno.stdin.read(new Uint8Array(1));
const tell = () => Deno.stdout.write(new Uint8Array(1));

await tell();
await wait();
const held = await harm.act(url);
await tell();
await wait();
for (const socket of held) socket.close();
Deno.exit();
