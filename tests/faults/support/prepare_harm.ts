import { fileURLToPath } from "node:url";

/** Clients that will harm an application; disposing ends them, their connections too. */
export interface PreparedHarm extends AsyncDisposable {
  /** Harms; resolves when all is sent. */
  act(): Promise<void>;
}

const MAIN = fileURLToPath(new URL("./harm_main.ts", import.meta.url));

/**
 * Prepares clients in a process of their own, that has what others leave of the processors: such clients have machines of
 * their own, and who measures others must not wait for them.
 */
export async function prepareHarm(name: string, url: string): Promise<PreparedHarm> {
  const run = [Deno.execPath(), "run", "--quiet", "--no-check", "-A", MAIN, name, url];
  const child = new Deno.Command("nice", {
    args: ["-n", "19", ...run],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const [input, output] = [child.stdin.getWriter(), child.stdout.getReader()];
  await output.read();
  return {
    act: async () => {
      await input.write(new Uint8Array(1));
      await output.read();
    },
    async [Symbol.asyncDispose]() {
      await input.close();
      await output.cancel();
      await child.status;
    },
  };
}
