import { assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  action,
  arrayProp,
  create,
  FrameworkModel,
  one,
  prop,
  remove,
  replace,
  rest,
  update,
} from "../../mod.ts";
import { at, declareId, ID_KINDS } from "../fixtures/id_kinds.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import type { Reply } from "../harness/request.ts";

const TYPES = {
  ...ID_KINDS,
  ObjectId: {
    type: mongoose.Schema.Types.ObjectId,
    ids: ["0", "1", "2", "3"].map((digit) => `${"a".repeat(23)}${digit}`),
  },
};

/** Serves notes with an `_id` of the type, whose writes have the hook. */
function declareNotes(type: unknown, hookName: "preSend" | "preSave" | undefined) {
  const hook = hookName && { [hookName]: pass };
  const stamp = action<Note>("stamp", {
    on: "one",
    async run(_req, note) {
      note.title = "stamped";
      return await note.save();
    },
  });
  @rest({
    route: "/notes",
    methods: [
      one(),
      create<Note>({ ...hook }),
      update<Note>({ ...hook }),
      remove(),
      replace<Note>({ ...hook }),
      stamp,
    ],
    history: true,
    trash: { see: () => true },
  })
  class Note extends FrameworkModel {
    @arrayProp({ items: String })
    tags?: string[];
    @prop()
    title?: string;
    @prop({ type: Number, default: 3 })
    count?: number;
    @prop()
    late?: string;
    static override configure(schema: Schema): void {
      if (type !== mongoose.Schema.Types.ObjectId) declareId(schema, type);
    }
  }
  return Note;
}

for (const [name, { type, ids: [first, second] }] of Object.entries(TYPES)) {
  for (const hook of ["preSend", "preSave", undefined] as const) {
    const title = `with an _id of the type ${name} and ${hook ?? "no hook"}`;
    test(`each write sends the ETag of the next read, ${title}`, async () => {
      await using app = await mountOnReplicaSet([declareNotes(type, hook)]);
      const given = name === "ObjectId" ? {} : { _id: first };
      const made = await app.post<{ _id: string }>("/notes", { title: "a", ...given });
      const [own, other] = [at("/notes", made.body._id), at("/notes", second)];
      const check = async (title: string, path: string, { text, headers }: Reply<unknown>) => {
        const read = await app.get(path);
        const expected = [title, text, headers.get("etag")];
        assertEquals([title, read.text, read.headers.get("etag")], expected);
      };
      await check("create", own, made);
      await check("update", own, await app.patch(own, { late: "b", title: "c" }));
      await check("replace", own, await app.put(own, { tags: ["d"], late: "d" }));
      await check("new by replace", other, await app.put(other, { count: 4, title: "d" }));
      await check("action", own, await app.post(`${own}/stamp`));
      await check("revert", own, await app.post(`${own}/revert`, { version: 1 }));
      await app.delete(own);
      await check("restore", own, await app.post(`${own}/restore`));
    });
  }
}
