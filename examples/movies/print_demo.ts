import { getModel } from "@mongrove/mongrove";
import { curls } from "./curls.ts";
import { SECRET_KEY } from "./hooks/authenticated.ts";
import { Movie } from "./movie.ts";

/**
 * Prints what to look at, and what to try.
 *
 * @param url Where the demo listens, without a trailing slash.
 * @param pages What its pages are for, by their paths.
 */
export async function printDemo(
  url: string,
  pages: Readonly<Record<string, string>>,
): Promise<void> {
  console.log(`To look at (the key is ${SECRET_KEY}; Ctrl-C stops):\n`);
  for (const [path, text] of Object.entries(pages)) console.log(`${url}${path}  ${text}`);
  console.log("\nTo try:\n");
  const movie = await getModel(Movie).findOne().sort({ year: 1, _id: 1 }).orFail();
  for (const { title, line } of curls({ url, key: SECRET_KEY, id: String(movie._id) })) {
    console.log(`# ${title}\n${line}\n`);
  }
}
