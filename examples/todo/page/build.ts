const PAGE = new URL("page.ts", import.meta.url).pathname;

/**
 * Makes one script of the page, TanStack DB and the client, as `deno bundle --platform=browser page.ts` does. Any
 * bundler can do it.
 */
export async function buildPage(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--platform=browser", "--minify", PAGE],
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`Cannot build the page: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
