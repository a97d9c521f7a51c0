/** The oldest MongoDB that the tests speak to. */
const OLDEST = 6;

/**
 * Runs `mongod --version`, which proves that the binary is one for this machine
 * and has its libraries.
 *
 * @param path The binary.
 * @returns Its version, such as `"6.0.5"`.
 * @throws {Error} If it cannot be run, is no `mongod`, or is too old.
 */
export async function readMongodVersion(path: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(path, {
    args: ["--version"],
    stdin: "null",
    signal: AbortSignal.timeout(10_000),
  }).output();
  const version = /db version v(\d+\.\d+\.\d+)/.exec(decode(stdout))?.[1];
  if (!success || !version) {
    const said = `${decode(stderr)}\n${decode(stdout)}`.trim().split("\n")[0];
    throw new Error(said || "it does not run on this machine");
  }
  if (parseInt(version) < OLDEST) {
    throw new Error(`it is ${version}, at least ${OLDEST}.0 is needed`);
  }
  return version;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
