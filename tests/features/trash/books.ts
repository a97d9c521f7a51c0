import mongoose from "mongoose";
import {
  action,
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import type { Mounted, MountOptions } from "../../support/support.ts";

/** Only the keeper sees the trash. */
export const isKeeper = (req: FrameworkRequest) => req.headers["x-user"] === "keeper";

const trash = { see: isKeeper, keep: "30d" } as const;

class Note extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

@rest({
  route: "/books",
  methods: [
    all({
      page: { size: 50, max: 100 },
      sort: ["name", "pages"],
      select: ["name", "code"],
      search: ["name"],
      count: { always: true },
      groups: { by: ["genre"], sum: ["pages"] },
      populate: { sequel: {} },
      live: true,
    }),
    one({ populate: { sequel: {} } }),
    create({ many: 10 }),
    update(),
    updateAll({ fields: ["name", "genre"] }),
    replace({ by: "code" }),
    remove(),
    removeAll(),
    action("shout", {
      on: "one",
      run: async (_req, book: Entity<Book>) => {
        book.name = book.name.toUpperCase();
        return await book.save();
      },
    }),
  ],
  trash,
  main: true,
})
@rest({
  route: "/hooked",
  methods: [
    one({ postFetch: (_req, book) => book }),
    update({ preSave: (_req, book) => book }),
    remove({ preSave: (_req, book) => book }),
    removeAll({ preSave: (_req, book) => book }),
  ],
  trash,
})
export class Book extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ unique: true, required: true })
  code!: string;
  @prop({ unique: true, sparse: true })
  isbn?: string;
  @prop()
  genre?: string;
  @prop({ type: Number })
  pages?: number;
  @prop({ ref: () => Book, exists: true })
  sequel?: Ref<Book>;
  @rest({ methods: [all(), one(), create(), update(), remove()] })
  @arrayProp({ items: Note, embedded: true, apart: false })
  notes!: Note[];
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: string;
}

@rest({
  route: "/shelves",
  methods: [all({ populate: { books: {}, best: {} } }), one(), create(), update()],
})
export class Shelf extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @rest({ methods: [all(), one(), create(), update(), remove(), removeAll()] })
  @arrayProp({ items: () => Book, exists: true })
  books!: Ref<Book>[];
  @rest({ methods: [one(), create(), update(), remove()] })
  @prop({ ref: () => Book })
  best?: Ref<Book>;
}

/** Serves books and shelves on a replica set. The header `x-user` has the sender of a request. */
export async function serveBooks(options: MountOptions = {}): Promise<Mounted> {
  const app = await mountOnReplicaSet([Book, Shelf], {
    actor: (req) => req.headers["x-user"] as string | undefined,
    ...options,
  });
  await getModel(Book).init();
  return app;
}

/** The options of a request of a user. */
export const as = (user: string) => ({ headers: { "x-user": user } });

/** The options of a request of the keeper, who sees the trash. */
export const KEEPER = as("keeper");

/** Reads a stored book. */
export async function storedBook(id: unknown): Promise<Record<string, unknown> | null> {
  return await getModel(Book).collection.findOne({
    _id: new mongoose.Types.ObjectId(String(id)),
  });
}
