import mongoose, { type Connection, type Schema } from "mongoose";
import { assertEquals } from "@std/assert";
import {
  action,
  type Entity,
  FrameworkModel,
  getModel,
  one,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { mount } from "../support/support.ts";

let connection: Connection = mongoose.connection;

const touch = action("touch", {
  on: "one",
  async run(_req, note: Entity<Note>) {
    note.title = "touched";
    return await note.save();
  },
});

@rest({
  route: "/notes",
  methods: [one(), update({ preSave: pass }), touch],
  getConnection: () => connection,
})
class Note extends FrameworkModel {
  @prop()
  title?: string;
}

/** Adds fields that no client sees: routes know the fields of the class. */
function audit(schema: Schema): void {
  schema.add({ source: { type: String, maxLength: 5 }, at: Date });
}

test("a field that the plugin of a connection adds is not validated for clients", async () => {
  await using app = await mount([Note]);
  const uri = withDatabase(app.database.uri, `${app.database.connection.name}_audited`);
  connection = await mongoose.createConnection(uri).asPromise();
  try {
    connection.plugin(audit);
    const { collection } = getModel(Note, connection);
    for (const stored of [{ source: "SECRET, too long" }, { at: "never" }]) {
      const { insertedId } = await collection.insertOne({ title: "a", ...stored } as never);
      const path = `/notes/${insertedId}`;
      for (const body of [{ title: "b" }, { title: "c", source: "d", at: "d" }]) {
        const { status, text } = await app.patch(path, body);
        assertEquals([status, text.includes("SECRET")], [200, false], text);
      }
      assertEquals((await app.post(`${path}/touch`, undefined)).status, 200);
      assertEquals(await collection.countDocuments({ _id: insertedId, ...stored }), 1);
    }
  } finally {
    await connection.dropDatabase();
    await connection.close();
    connection = mongoose.connection;
  }
});
