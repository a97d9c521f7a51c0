import { join } from "node:path";
import { openCache, storeBinary } from "../../harness/mongo/mongod_cache.ts";
import { say } from "../../harness/say.ts";
import { tryCommand } from "../../reach/support/run_command.ts";

const ADVICE = "Cannot find nginx: install it (`apt-get install nginx` on Debian)";

/**
 * Finds nginx: what `PATH` has, or what was fetched before. On Debian, it is unpacked from its package: to install that
 * would start a server.
 *
 * @returns The path of the binary.
 * @throws {Error} If there is none; the message says what to do.
 */
export async function findNginx(): Promise<string> {
  const cache = await openCache();
  for (const path of ["nginx", join(cache, "nginx")]) {
    if (await readVersion(path).then(() => true, () => false)) return path;
  }
  if (Deno.build.os !== "linux") throw new Error(ADVICE);
  say("Unpacking nginx");
  return await storeBinary(cache, { name: "nginx", fetch: unpack, readVersion });
}

async function unpack(cwd: string): Promise<string> {
  // Others than root have the lists of packages that are there
  await tryCommand("apt-get", ["update", "-qq"], { cwd });
  await tryCommand("apt-get", ["download", "-qq", "-o", "APT::Sandbox::User=root", "nginx"], {
    cwd,
  });
  const { code } = await tryCommand("sh", ["-c", "dpkg -x nginx_*.deb ."], { cwd });
  if (code !== 0) throw new Error(ADVICE);
  return join(cwd, "usr/sbin/nginx");
}

async function readVersion(path: string): Promise<string> {
  const { success, stderr } = await new Deno.Command(path, { args: ["-v"] }).output();
  if (!success) throw new Error(ADVICE);
  return new TextDecoder().decode(stderr);
}
