import { DryMongoBinary, MongoBinary } from "mongodb-memory-server";
import { say } from "../say.ts";

/** The time in which the site must answer at all. */
const PROBE_MS = 1_500;

/** Afterwards, another source is tried. */
const DOWNLOAD_MS = 180_000;

function downloadSite(): string {
  return Deno.env.get("MONGOMS_DOWNLOAD_MIRROR") ||
    "https://fastdl.mongodb.org";
}

/** No answer in time means a closed network. */
async function probe(site: string): Promise<void> {
  try {
    const signal = AbortSignal.timeout(PROBE_MS);
    const answer = await fetch(site, { method: "HEAD", signal });
    await answer.body?.cancel();
  } catch (cause) {
    throw new Error("the download site is out of reach", { cause });
  }
}

/** From MongoDB's site or the mirror in `MONGOMS_DOWNLOAD_MIRROR`. Throws at once if the site is out of reach. */
export async function downloadMongod(folder: string): Promise<string> {
  await probe(downloadSite());
  // Outside of a Node project, it would otherwise ask for the empty path, which Deno's permissions refuse.
  Deno.env.set("CACHE_DIR", folder);
  const options = await DryMongoBinary.generateOptions({
    downloadDir: folder,
  });
  say(`Downloading MongoDB ${options.version} from its own site`);
  const download = MongoBinary.download({
    ...options,
    platform: Deno.build.os === "windows" ? "win32" : Deno.build.os,
    downloadDir: folder,
    checkMD5: true,
  });
  return await within(DOWNLOAD_MS, download);
}

async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`it took more than ${ms / 1000} s`)),
    ms,
  );
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
