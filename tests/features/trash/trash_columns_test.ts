import { assertEquals } from "@std/assert";
import {
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
} from "../../../mod.ts";
import { test } from "../../harness/testing.ts";
import { rowsOf } from "../../support/csv.ts";
import { mount } from "../../support/support.ts";
import { isKeeper } from "./books.ts";

const trash = { see: isKeeper };

@rest({ route: "/senders", methods: [create(), remove(), one()], trash })
class Sender extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({
  route: "/parcels",
  methods: [
    all({
      page: { max: 9 },
      select: ["name", "deletedAt"],
      populate: { sender: { always: true } },
      formats: ["csv", "ndjson"],
    }),
    one(),
    create({ many: 9, formats: ["csv"] }),
    remove(),
  ],
  trash,
})
class Parcel extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ ref: () => Sender })
  sender?: Ref<Sender>;
  declare readonly deletedAt?: Date;
}

const headers = { accept: "text/csv", "x-user": "keeper" };

test("a table has the fields of the trash only where it shows the trash", async () => {
  await using app = await mount([Parcel, Sender], { actor: () => "ann" });
  const { _id: sender } = await app.created("/senders", { name: "ann" });
  const { _id } = await app.created("/parcels", { name: "a", sender });
  await app.created("/parcels", { name: "b", sender });
  await app.delete(`/parcels/${_id}`);
  const columnsOf = async (query: string) => {
    const { status, text } = await app.get(`/parcels${query}`, { headers });
    assertEquals(status, 200, text);
    return rowsOf(text).map((row) => [row.name, Object.keys(row).join()]);
  };
  const usual = "name,sender._id,sender.name,sender.__v,__v";
  assertEquals(await columnsOf(""), [["b", `_id,${usual}`]]);
  const removed = "name,sender._id,sender.name,sender.__v,deletedAt,__v";
  assertEquals(await columnsOf("?trash=only"), [["a", `_id,${removed}`]]);
  // The column was asked for.
  assertEquals(await columnsOf("?select=deletedAt,name"), [["b", "_id,name,deletedAt"]]);
});

test("an import takes the table of the trash, and stores no removal", async () => {
  await using app = await mount([Parcel, Sender], { actor: () => "ann" });
  const { _id } = await app.created("/parcels", { name: "a" });
  await app.delete(`/parcels/${_id}`);
  const { text } = await app.get("/parcels?trash=only&select=name,deletedAt", { headers });
  const type = { "content-type": "text/csv" };
  const imported = await app.send("POST", "/parcels", { headers: type, raw: text });
  assertEquals(imported.status, 207, imported.text);
  const stored = await getModel(Parcel).find({ _id: { $ne: _id } }).lean();
  assertEquals(stored.map(({ name, deletedAt }) => [name, deletedAt]), [["a", undefined]]);
});
