const PAGE = new URL("page/page.tsx", import.meta.url).pathname;

/**
 * Makes one script of the page and all that it imports. `deno bundle` does it by esbuild, with the packages that
 * `deno.json` names. Types are gone then, and the server's classes with them.
 */
export async function buildPage({ minify = true } = {}): Promise<string> {
  const options = minify ? ["--minify"] : [];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--platform=browser", ...options, PAGE],
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`Cannot build the page: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
