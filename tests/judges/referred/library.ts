import type { Connection } from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  removeAll,
  rest,
  type Restricted,
  update,
  updateAll,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import type { Mounted } from "../../support/support.ts";

/** The greatest number of entities that a condition through a reference may select. */
export const MAX_REFERRED = 9;

const isGuest = ({ headers }: FrameworkRequest) => headers["x-role"] !== "staff";

/** The databases of the application, of which a request names one. */
const databases = new Map<string, Connection>();

const getConnection = ({ headers }: FrameworkRequest) =>
  databases.get(String(headers["x-database"])) as Connection;

class Address extends FrameworkModel {
  @prop()
  city?: string;
}

@rest({
  route: "/authors",
  methods: [all(), one()],
  tenant: "company",
  trash: { see: (req) => !isGuest(req) },
  scope: ({ headers }) => ({ level: { $lte: Number(headers["x-level"]) } }),
  getConnection,
})
export class Author extends FrameworkModel {
  @prop()
  company?: string;
  @prop()
  name?: string;
  @prop({ type: Number })
  born?: number;
  @prop({ hidden: isGuest })
  email?: Restricted<string>;
  @prop({ type: Number, hidden: true })
  level?: number;
  @prop({ type: Address })
  address?: Address;
}

class Chapter extends FrameworkModel {
  @prop({ type: Number })
  page?: number;
  @prop({ ref: Author })
  editor?: Ref<Author>;
}

/** The paths that lead to a reference of a book. */
export const REFERENCES = ["author", "authors", "chapters.editor"] as const;

/** The paths of single values in an author. */
export const VALUES = ["name", "born", "email", "address.city"] as const;

const filter = [
  ...["title", "year", "author", "chapters.page"] as const,
  ...["author.name", "author.born", "author.email", "author.address.city"] as const,
  ...["authors.name", "authors.born", "authors.email", "authors.address.city"] as const,
  ...["chapters.editor.name", "chapters.editor.born", "chapters.editor.email"] as const,
  "chapters.editor.address.city" as const,
];

@rest({
  route: "/books",
  methods: [
    all({
      filter,
      page: { size: 100, max: 100 },
      count: { always: true },
      groups: { by: ["year"], count: true },
      search: ["title"],
      formats: ["ndjson"],
    }),
    one({ filter }),
    update({ filter }),
    updateAll({ filter, fields: ["mark"], max: 1000 }),
    removeAll({ filter }),
  ],
  tenant: "company",
  main: true,
  getConnection,
})
@rest({
  route: "/hooked",
  methods: [
    all({ filter, postFetch: pass, page: { size: 100, max: 100 } }),
    one({ filter, preSend: pass }),
    update({ filter, preSave: pass }),
    updateAll({ filter, fields: ["mark"], max: 1000, preSave: pass }),
    removeAll({ filter, postFetch: pass }),
  ],
  tenant: "company",
  getConnection,
})
export class Book extends FrameworkModel {
  @prop()
  company?: string;
  @prop()
  title?: string;
  @prop({ type: Number })
  year?: number;
  @prop({ type: Number })
  mark?: number;
  @prop({ ref: Author })
  author?: Ref<Author>;
  @arrayProp({ items: Author })
  authors?: Ref<Author>[];
  @arrayProp({ items: Chapter, embedded: true })
  chapters?: Chapter[];
}

/** The books and authors of a request, on two databases. */
export interface Library extends AsyncDisposable {
  readonly app: Mounted;
  /** Stores authors and books in one of the databases, in the place of all others. */
  store(database: string, world: StoredWorld): Promise<void>;
  /** Reads the books that a database stores. */
  books(database: string): Promise<unknown[]>;
}

export interface StoredWorld {
  readonly authors: readonly object[];
  readonly books: readonly object[];
}

/** Serves the classes on the databases `a` and `b`. */
export async function serveLibrary(): Promise<Library> {
  const app = await mountOnReplicaSet([Author, Book], {
    tenant: ({ headers }) => headers["x-company"] as string | undefined,
    limits: { query: { maxReferred: MAX_REFERRED } },
  });
  const { connection } = app.database;
  const names = ["a", "b"];
  for (const name of names) databases.set(name, connection.useDb(`library_${name}`));
  const collectionsOf = (database: string) => {
    const db = databases.get(database) as Connection;
    return { authors: getModel(Author, db).collection, books: getModel(Book, db).collection };
  };
  return {
    app,
    async store(database, { authors, books }) {
      const stored = collectionsOf(database);
      for (
        const [collection, entities] of [[stored.authors, authors], [stored.books, books]] as const
      ) {
        await collection.deleteMany({});
        // The driver adds to the objects that it stores, so it gets copies.
        const copies = entities.map((each) => ({ ...each }));
        if (copies.length > 0) await collection.insertMany(copies as never);
      }
    },
    async books(database) {
      return await collectionsOf(database).books.find().sort({ _id: 1 }).toArray();
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
    },
  };
}
