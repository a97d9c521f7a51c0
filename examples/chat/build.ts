const PAGE = new URL("page.ts", import.meta.url).pathname;

/** Makes one script of the page and the client. Types are gone then, and the server's classes with them. */
export async function buildPage(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "--platform=browser", "--minify", PAGE],
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`Cannot build the page: ${decoder.decode(stderr)}`);
  return decoder.decode(stdout);
}
