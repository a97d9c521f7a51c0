import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { all, arrayProp, create, FrameworkModel, getModel, prop, rest, update } from "../../mod.ts";
import type { ModelClass, Ref } from "../../mod.ts";
import { SIX } from "../fixtures/operations.ts";
import { openReplicaSet } from "../support/shared_replica_set.ts";
import { pass } from "../support/both_paths.ts";
import type { Client } from "../support/client.ts";
import { type ErrorBody, mount } from "../support/support.ts";

const HOOKED = [all({ postFetch: pass }), update({ preSave: pass })];

/** Makes a model whose requests send every command, on a connection. */
function buildNotes(connection: Connection): ModelClass {
  class Part extends FrameworkModel {
    @prop()
    text?: string;
  }
  const getConnection = () => connection;
  @rest({ route: "/notes", methods: SIX, getConnection })
  @rest({ route: "/hooked", methods: HOOKED as never[], getConnection })
  class Note extends FrameworkModel {
    @prop()
    text?: string;
    @rest({ methods: [all()] })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
    @rest({ methods: [create()] })
    @arrayProp({ items: Part })
    others?: Ref<Part>[];
  }
  return Note;
}

/** The requests that send each command, for one note. */
function callsOf(app: Client, _id: string) {
  const note = `/notes/${_id}`;
  return {
    find: () => app.get<ErrorBody>(note),
    aggregate: () => app.get<ErrorBody>(`${note}/parts`),
    insert: () => app.post<ErrorBody>("/notes", {}),
    findAndModify: () => app.patch<ErrorBody>(note, { text: crypto.randomUUID() }),
    delete: () => app.delete<ErrorBody>("/notes?q=%7B%22text%22%3A%22none%22%7D"),
    commitTransaction: () => app.post<ErrorBody>(`${note}/others`, {}),
  };
}

/**
 * Serves one note from a server that can be made to fail, and the requests that send each command. It may be asked
 * beforehand whether it has transactions.
 */
export async function openNotes({ isAsked = true } = {}) {
  const mongo = await openReplicaSet();
  const connection = await mongoose.createConnection(mongo.uri, { monitorCommands: true })
    .asPromise();
  const Note = buildNotes(connection);
  const app = await mount([Note], { limits: { timeMS: 2000 }, onError: () => {} });
  const { _id } = await app.created("/notes", { text: "a" });
  const note = `/notes/${_id}`;
  if (isAsked) await app.created(`${note}/others`, {});
  const { collection } = getModel(Note, connection);
  const list = async () => {
    await collection.insertMany(Array.from({ length: 3000 }, () => ({ text: "b" })));
    return await app.get("/hooked");
  };
  const fail = (mode: object | string, data?: object) =>
    connection.getClient().db("admin").command({
      configureFailPoint: "failCommand",
      mode,
      ...data && { data },
    });
  return {
    app,
    connection,
    calls: callsOf(app, _id),
    fail,
    list,
    count: () => collection.countDocuments(),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await connection.close();
      await mongo.stop();
    },
  };
}
