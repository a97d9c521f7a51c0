import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, Framework, FrameworkModel, rest } from "../../mod.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";
import { signal } from "./support/replica_set.ts";

/** After a while the driver itself takes the connection for lost. */
const REASONS = ["does not answer in 800 ms", "is not open"].map((each) =>
  `The connection to "frozen" ${each}`
);

test("health() tells within a second of a database that hangs, and of its return", async () => {
  await using mongo = await startMongo({ args: ["--quiet"] });
  const connection = await mongoose.createConnection(mongo.uri, { dbName: "frozen" }).asPromise();
  @rest({ route: "/frozen", methods: [all()], getConnection: () => connection })
  class Frozen extends FrameworkModel {}
  await using app = await mount([Frozen]);
  assertEquals((await app.get("/frozen")).status, 200);
  const ready = { live: true, ready: true, reasons: [] };
  assertEquals(await Framework.health(), ready);
  const [member] = mongo.members.flatMap(({ instanceInfo }) => instanceInfo?.instance ?? []);
  assert(member);
  signal(member, "SIGSTOP");
  try {
    for (let left = 3; left > 0; left--) {
      const start = performance.now();
      const told = await Promise.all(Array.from({ length: 50 }, () => Framework.health()));
      assert(performance.now() - start < 1000, "it took a second");
      for (const { live, ready, reasons } of told) {
        assertEquals([live, ready], [true, false]);
        assert(REASONS.includes(reasons.join()), reasons.join());
      }
    }
  } finally {
    signal(member, "SIGCONT");
  }
  await until(async () => (await Framework.health()).ready);
  assertEquals((await app.get("/frozen")).status, 200);
  await connection.close();
});
