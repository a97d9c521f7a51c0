import type { Express } from "express-types";
import type { mongo } from "mongoose";
import { itemsOf } from "../../plan/collections.ts";
import { grouped, GROUPED_SIZES } from "../../plan/groups.ts";
import { importPeer } from "./import_peer.ts";
import { databaseUri } from "./settings.ts";

/** The expressions of what can be grouped by. */
const KEYS: Readonly<Record<string, unknown>> = {
  stars: "$stars",
  created: { $dateToString: { date: "$created", format: "%Y-%m" } },
};

/** Serves what Mongrove's routes of groups serve, as people write it by hand. */
export async function serveGroups(app: Express): Promise<void> {
  const { MongoClient } = await importPeer<Pick<typeof mongo, "MongoClient">>("mongodb");
  const db = (await new MongoClient(databaseUri()).connect()).db();
  for (const size of GROUPED_SIZES) {
    app.get(`/${grouped(itemsOf(size))}`, async (req, res) => {
      const names = String(req.query.group).split(",").filter((name) => Object.hasOwn(KEYS, name));
      const q = typeof req.query.q === "string" ? JSON.parse(req.query.q) : {};
      const found = await db.collection(itemsOf(size)).aggregate([
        { $match: q.published === undefined ? {} : { published: q.published } },
        {
          $group: {
            _id: Object.fromEntries(names.map((name) => [name, KEYS[name]])),
            count: { $sum: 1 },
            price: { $sum: "$price" },
          },
        },
        { $sort: { _id: 1 } },
      ]).toArray();
      res.json(found.map(({ _id, count, price }) => ({ ..._id, count, sum: { price } })));
    });
  }
}
