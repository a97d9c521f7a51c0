import { CollectionSource } from "../sources/collection_source.ts";
import { openPart } from "../sources/open_part.ts";
import type { Source } from "../sources/source.ts";
import type { Call, LevelCall } from "./request/call.ts";
import { fetchOne } from "./fetch.ts";
import { selectFor } from "./guard.ts";

/**
 * Opens the source of the level that acts. Every level before it is read as its reader may see it, outermost first: the
 * parent guards what it holds.
 */
export async function openSource(call: Call): Promise<Source> {
  const [root, ...parts] = call.levels as [LevelCall, ...LevelCall[]];
  let source: Source = new CollectionSource(await settingsFor(call, root));
  let above = root;
  for (const part of parts) {
    const { stored, seen: parent } = await fetchOne(call, above, source);
    const { part: link, target } = part.level;
    if (link === undefined) {
      throw new TypeError("Cannot open a route: a level is no part of another");
    }
    // A hook may have reduced the parent to what may be shown of it, its identifier left out.
    const place = await source.locate("_id" in parent ? parent : stored);
    source = await openPart({ ...await settingsFor(call, part), place, link, target, parent });
    above = part;
  }
  return source;
}

async function settingsFor(call: Call, levelCall: LevelCall) {
  return {
    model: levelCall.model,
    shape: levelCall.level.shape,
    selection: await selectFor(call, levelCall),
    patience: call.patience,
    maxTimeMS: call.route.maxTimeMS,
  };
}
