import type { Page } from "npm:puppeteer-core@25";

/** The files that a page saves. */
export interface Downloads extends AsyncDisposable {
  /** Waits for a file with a name, and returns its bytes. */
  readonly read: (name: string) => Promise<Uint8Array<ArrayBuffer>>;
}

/** Has a page save files into a folder, which disposing removes. */
export async function openDownloads(page: Page): Promise<Downloads> {
  const folder = await Deno.makeTempDir();
  const session = await page.createCDPSession();
  const { id } = page.browserContext();
  await session.send("Browser.setDownloadBehavior", {
    behavior: "allow",
    ...id !== undefined && { browserContextId: id },
    downloadPath: folder,
    eventsEnabled: true,
  });
  const saved = new Set<string>();
  const names = new Map<string, string>();
  let wake = () => {};
  session.on("Browser.downloadWillBegin", ({ guid, suggestedFilename }) => {
    names.set(guid, suggestedFilename);
  });
  session.on("Browser.downloadProgress", ({ guid, state }) => {
    if (state === "completed") saved.add(names.get(guid) ?? "");
    wake();
  });
  return {
    async read(name) {
      while (!saved.has(name)) await new Promise<void>((resolve) => wake = resolve);
      return await Deno.readFile(`${folder}/${name}`);
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}
