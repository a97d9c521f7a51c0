/** Express on the bare driver. @module */
import { grouped, GROUPED_SIZES, itemsOf } from "../data.ts";
import { listen } from "./common.ts";
import { openDriver } from "./driver.ts";
import { serveCrud } from "./express.ts";

const { db, crud } = await openDriver();
const app = serveCrud(crud, "lean");

/** The expressions of the fields that can be grouped by. */
const KEYS: Readonly<Record<string, unknown>> = {
  stars: "$stars",
  created: { $dateToString: { date: "$created", format: "%Y-%m" } },
};

for (const size of GROUPED_SIZES) {
  app.get(`/${grouped(itemsOf(size))}`, async (req, res) => {
    const names = String(req.query.group).split(",").filter((name) => Object.hasOwn(KEYS, name));
    const q = typeof req.query.q === "string" ? JSON.parse(req.query.q) : {};
    const _id = Object.fromEntries(names.map((name) => [name, KEYS[name]]));
    const found = await db.collection(itemsOf(size)).aggregate([
      { $match: q.published === undefined ? {} : { published: q.published } },
      { $group: { _id, count: { $sum: 1 }, price: { $sum: "$price" } } },
      { $sort: { _id: 1 } },
    ]).toArray();
    res.json(found.map(({ _id, count, price }) => ({ ..._id, count, sum: { price } })));
  });
}
listen(app);
