/** Express on the bare driver. @module */
import { pipeline } from "node:stream/promises";
import type { mongo } from "mongoose";
import { grouped, GROUPED_SIZES, itemsOf, SCANS } from "../data.ts";
import { importPeer, listen } from "./common.ts";
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

const { GridFSBucket, ObjectId }: typeof mongo = await importPeer("mongodb");
const bucket = new GridFSBucket(db, { bucketName: SCANS });
const scans = db.collection<{ file: mongo.ObjectId; size: number }>(SCANS);
app.put(`/${SCANS}/:id/file`, async (req, res) => {
  const upload = bucket.openUploadStream("file");
  await pipeline(req, upload);
  const set = { $set: { file: upload.id, size: upload.length } };
  res.status(201).json(await scans.updateOne({ _id: new ObjectId(req.params.id) }, set));
});
app.get(`/${SCANS}/:id/file`, async (req, res) => {
  const scan = await scans.findOne({ _id: new ObjectId(req.params.id) });
  if (scan === null) throw new Error("The entity does not exist");
  await pipeline(bucket.openDownloadStream(scan.file), res.set("Content-Length", `${scan.size}`));
});
listen(app);
