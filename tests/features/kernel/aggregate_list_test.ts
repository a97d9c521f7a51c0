import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { all, arrayProp, FrameworkModel, prop, rest } from "../../../mod.ts";
import { startMongo } from "../../harness/mongo/start_mongo.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount } from "../../support/support.ts";

/** The two options whose answer is the result of an aggregation, by the parameter that asks for it. */
const LISTS = ["group", "distinct"] as const;

/** The server has one limit for each of its two engines, and chooses the engine by the stages. */
const SMALL_MEMORY = [
  "enableTestCommands=1",
  "internalDocumentSourceGroupMaxMemoryBytes=100000",
  "internalQuerySlotBasedExecutionHashAggApproxMemoryUseInBytesBeforeSpill=100000",
].flatMap((parameter) => ["--setParameter", parameter]);

/** The fail point with a code that MongoDB 9 also has for the memory of a whole statement. */
const OUT_OF_MEMORY = {
  configureFailPoint: "failCommand",
  mode: { times: 1 },
  data: { failCommands: ["aggregate"], errorCode: 146 },
};

test("a list whose aggregation needs too much memory is a 409", async () => {
  await using mongo = await startMongo({ args: SMALL_MEMORY });
  const connection = await mongoose.createConnection(mongo.uri, { dbName: "names" }).asPromise();
  @rest({
    route: "/names",
    methods: [all({ groups: { by: ["name"] }, distinct: ["name"] })],
    getConnection: () => connection,
  })
  class Name extends FrameworkModel {
    @prop()
    name?: string;
  }
  await using app = await mount([Name]);
  const insert = (size: number) =>
    connection.collection("names").insertMany(
      Array.from({ length: 500 }, (_, count) => ({ name: `${count}`.padEnd(size) })),
    );
  for (const [size, expected] of [[1, 200], [1000, 409]] as const) {
    await insert(size);
    for (const parameter of LISTS) {
      const { status } = await app.get<ErrorBody>(`/names?${parameter}=name`);
      assertEquals(status, expected, `${parameter} of names of ${size} characters`);
    }
  }
  await connection.getClient().db("admin").command(OUT_OF_MEMORY);
  assertEquals((await app.get("/names?group=name")).status, 409);
  await connection.close();
});

@rest({
  route: "/places",
  methods: [
    all({
      groups: { by: ["name"] },
      distinct: ["name"],
      preFetch: (req) => {
        Object.assign(req.framework.filter, { at: { $near: [0, 0] } });
        return true;
      },
    }),
  ],
})
class Place extends FrameworkModel {
  @prop()
  name?: string;
  @arrayProp({ items: Number })
  at!: number[];
}

test("a 400 for conditions by distance names the parameter of the request", async () => {
  await using app = await mount([Place]);
  for (const parameter of LISTS) {
    const { status, body } = await app.get<ErrorBody>(`/places?${parameter}=name`);
    assertEquals(
      [status, body.message],
      [400, `Parameter "${parameter}" takes no conditions by distance beside it`],
    );
  }
});
