/** Systems give ports from here on to servers that ask for any, as tests that run beside do. */
const FIRST_GIVEN = 32_768;

const CHOICE = 12_000;

/** For a server in another process, which takes a while to start. */
export function freePort(): number {
  for (;;) {
    const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
    const port = FIRST_GIVEN - 1 - random % CHOICE;
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
