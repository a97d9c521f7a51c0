import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { all, arrayProp, FrameworkModel, prop, remove, rest, update } from "../../../mod.ts";
import type { ModelClass, Ref } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import type { Client } from "../../support/client.ts";
import { SIX } from "../../fixtures/operations.ts";
import { asQuery } from "../../support/support.ts";

const HOOKED = [update({ preSave: pass }), remove({ preSave: pass })];

/** Makes a model whose requests send every command, on a connection. */
export function buildNotes(connection: Connection): ModelClass {
  class Part extends FrameworkModel {
    @prop()
    group?: string;
    @prop()
    text?: string;
  }
  const getConnection = () => connection;
  @rest({ route: "/notes", methods: SIX, getConnection })
  @rest({ route: "/hooked", methods: HOOKED as never[], getConnection })
  @rest({
    route: "/pages",
    methods: [all({ page: { size: 2, max: 9 }, count: { always: true } })],
    getConnection,
  })
  class Note extends FrameworkModel {
    @prop()
    group?: string;
    @prop()
    text?: string;
    @rest({ methods: SIX })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
    @rest({ methods: SIX })
    @arrayProp({ items: Part })
    others?: Ref<Part>[];
  }
  return Note;
}

/** A note with a part and a reference: the paths to it. */
export interface Place {
  readonly group: string;
  readonly note: string;
  readonly part: string;
  readonly other: string;
}

/** Stores a note, with a group of its own. */
export async function putNote(db: Connection): Promise<Place> {
  const group = crypto.randomUUID();
  const own = { _id: new mongoose.Types.ObjectId(), text: "part" };
  const other = await db.collection("parts").insertOne({ group, text: "other", __v: 0 });
  const body = { group, text: "note", parts: [own], others: [other.insertedId], __v: 0 };
  const { insertedId } = await db.collection("notes").insertOne(body);
  const note = `/notes/${insertedId}`;
  return {
    ...{ group, note },
    part: `${note}/parts/${own._id}`,
    other: `${note}/others/${other.insertedId}`,
  };
}

/** A request, the commands that it sends, and the texts that are stored when it has happened. */
interface CallToNote {
  readonly send: (api: Client, place: Place) => Promise<{ readonly status: number }>;
  readonly commands: readonly string[];
  readonly after: string;
}

/** What {@linkcode putNote} stores. */
export const BEFORE = "note, part, other";

const hooked = (path: string) => path.replace("/notes", "/hooked");
const NEW = { text: "new" };

/** The requests, by their names in the output of the tests. */
export const CALLS: Readonly<Record<string, CallToNote>> = {
  "`one()`": { send: (api, { note }) => api.get(note), commands: ["find"], after: BEFORE },
  "`all()` with a total": {
    send: (api) => api.get("/pages"),
    commands: ["aggregate"],
    after: BEFORE,
  },
  "`create()`": {
    send: (api, { group }) => api.post("/notes", { ...NEW, group }),
    commands: ["insert"],
    after: `${BEFORE}, new`,
  },
  "`update()`": {
    send: (api, { note }) => api.patch(note, NEW),
    commands: ["findAndModify"],
    after: "new, part, other",
  },
  "`update()` with hooks": {
    send: (api, { note }) => api.patch(hooked(note), NEW),
    commands: ["find", "findAndModify"],
    after: "new, part, other",
  },
  "`remove()`": { send: (api, { note }) => api.delete(note), commands: ["delete"], after: "" },
  "`remove()` with hooks": {
    send: (api, { note }) => api.delete(hooked(note)),
    commands: ["find", "delete"],
    after: "",
  },
  "`removeAll()`": {
    send: (api, { group }) => api.delete(`/notes${asQuery({ group })}`),
    commands: ["delete"],
    after: "",
  },
  "embedded `one()`": {
    send: (api, { part }) => api.get(part),
    commands: ["find", "aggregate"],
    after: BEFORE,
  },
  "embedded `create()`": {
    send: (api, { note }) => api.post(`${note}/parts`, NEW),
    commands: ["find", "findAndModify"],
    after: "note, part, new, other",
  },
  "embedded `update()`": {
    send: (api, { part }) => api.patch(part, NEW),
    commands: ["find", "aggregate", "findAndModify"],
    after: "note, new, other",
  },
  "embedded `remove()`": {
    send: (api, { part }) => api.delete(part),
    commands: ["find", "aggregate", "update"],
    after: "note, other",
  },
  "embedded `removeAll()`": {
    send: (api, { note }) => api.delete(`${note}/parts`),
    commands: ["find", "aggregate", "update"],
    after: "note, other",
  },
  "referenced `one()`": {
    send: (api, { other }) => api.get(other),
    commands: ["find", "second find"],
    after: BEFORE,
  },
  "referenced `create()`": {
    send: (api, { note, group }) => api.post(`${note}/others`, { ...NEW, group }),
    commands: ["find", "insert", "update", "commitTransaction"],
    after: `${BEFORE}, new`,
  },
  "referenced `update()`": {
    send: (api, { other }) => api.patch(other, NEW),
    commands: ["find", "findAndModify"],
    after: "note, part, new",
  },
  "referenced `remove()`": {
    send: (api, { other }) => api.delete(other),
    commands: ["find", "second find", "delete", "update", "commitTransaction"],
    after: "note, part",
  },
  "referenced `removeAll()`": {
    send: (api, { note }) => api.delete(`${note}/others`),
    commands: ["find", "second find", "delete", "update", "commitTransaction"],
    after: "note, part",
  },
};

/** The texts that are stored of a group; "?" is a reference that leads nowhere, or that is missing. */
export async function look(db: Connection, { group, note }: Place): Promise<string> {
  const [parent] = note.split("/").slice(-1);
  const notes = await db.collection("notes").find({ group }).sort({ _id: 1 }).toArray();
  const ids = notes.flatMap(({ others }) => others ?? []);
  const others = await db.collection("parts").find({ group }).toArray();
  const texts = notes.flatMap(({ _id, text, parts = [] }) => {
    if (String(_id) !== parent) return [text];
    const named = ids.map((id) => others.find((each) => String(each._id) === String(id)));
    const unnamed = others.filter((each) => !named.includes(each)).map(() => "?");
    return [text, ...[...parts, ...named].map((each) => each?.text ?? "?"), ...unnamed];
  });
  return texts.join(", ");
}
