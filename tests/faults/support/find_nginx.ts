import { say } from "../../harness/say.ts";
import { tryCommand } from "../../reach/support/run_command.ts";

const ADVICE = "Cannot find nginx: install it (`apt-get install nginx` on Debian)";

/**
 * Finds nginx: what `PATH` has. On Debian, its package is unpacked into a folder: to install it would start a server.
 *
 * @returns The path of the binary.
 * @throws {Error} If there is none; the message says what to do.
 */
export async function findNginx(): Promise<string> {
  if (await runs("nginx")) return "nginx";
  if (Deno.build.os !== "linux") throw new Error(ADVICE);
  say("Unpacking nginx");
  const at = { cwd: await Deno.makeTempDir({ prefix: "mongrove-nginx-" }) };
  // Others than root have the lists of packages that are there
  await tryCommand("apt-get", ["update", "-qq"], at);
  await tryCommand("apt-get", ["download", "-qq", "-o", "APT::Sandbox::User=root", "nginx"], at);
  await tryCommand("sh", ["-c", "dpkg -x nginx_*.deb ."], at);
  const path = `${at.cwd}/usr/sbin/nginx`;
  if (!await runs(path)) throw new Error(ADVICE);
  return path;
}

async function runs(path: string): Promise<boolean> {
  try {
    return (await new Deno.Command(path, { args: ["-v"], stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}
