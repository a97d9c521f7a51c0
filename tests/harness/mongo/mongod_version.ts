/** The oldest MongoDB of the tests. */
const OLDEST = 6;

/**
 * Running `mongod --version` proves that the binary fits this machine and has its libraries. Throws for other and too
 * old ones.
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
