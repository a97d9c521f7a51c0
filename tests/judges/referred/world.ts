import { Types } from "mongoose";
import type { Random } from "../twins/random.ts";

const { ObjectId } = Types;

export interface StoredAuthor {
  readonly _id: Types.ObjectId;
  readonly company: string;
  readonly level: number;
  readonly name?: string | null;
  readonly born?: number | null;
  readonly email?: string | null;
  readonly address?: { readonly city?: string } | null;
  readonly deletedAt?: Date;
}

export interface StoredBook {
  readonly _id: Types.ObjectId;
  readonly company: string;
  readonly title: string;
  readonly year?: number;
  readonly author?: Types.ObjectId | null;
  readonly authors?: readonly Types.ObjectId[] | null;
  readonly chapters?: readonly {
    readonly page?: number;
    readonly editor?: Types.ObjectId | null;
  }[];
}

/** The sender of a request. */
export interface Reader {
  readonly company: string;
  readonly role: "staff" | "guest";
  readonly level: number;
}

export interface World {
  readonly authors: readonly StoredAuthor[];
  readonly books: readonly StoredBook[];
}

const COMPANIES = ["one", "two"] as const;

export const NAMES = ["ann", "bob", "Cid", "dan"] as const;

export const CITIES = ["Rome", "Oslo"] as const;

/** Returns `undefined` or `null` in some cases, in the place of the value. */
function maybe<T>(random: Random, value: T): T | null | undefined {
  return random.one([value, value, value, value, null, undefined]);
}

/** Leaves out the properties without a value, because the driver would store `null`. */
function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as T;
}

export function randomAuthor(random: Random, _id = new ObjectId()): StoredAuthor {
  return withoutUndefined({
    _id,
    company: random.one(COMPANIES),
    level: random.below(3),
    name: maybe(random, random.one(NAMES)),
    born: maybe(random, 1 + random.below(4)),
    email: maybe(random, random.one(NAMES)),
    address: random.one([{ city: random.one(CITIES) }, {}, null, undefined]),
    deletedAt: random.chance(0.25) ? new Date() : undefined,
  }) as StoredAuthor;
}

/** Makes a world with references of all kinds, also to entities that do not exist. */
export function randomWorld(random: Random): World {
  const authors = Array.from({ length: 24 }, () => randomAuthor(random));
  const anyId = () => random.chance(0.1) ? new ObjectId() : random.one(authors)._id;
  const someIds = () => Array.from({ length: random.below(4) }, anyId);
  const books = Array.from({ length: 40 }, (_, index) =>
    withoutUndefined({
      _id: new ObjectId(),
      company: random.one(COMPANIES),
      title: `${random.one(["x", "y"])}${index}`,
      year: random.chance(0.2) ? undefined : 2000 + random.below(3),
      author: maybe(random, anyId()),
      authors: random.one([someIds(), someIds(), null, undefined]),
      chapters: random.one([
        undefined,
        Array.from({ length: random.below(3) }, () =>
          withoutUndefined({ page: random.below(4), editor: maybe(random, anyId()) })),
      ]),
    }) as StoredBook);
  return { authors, books };
}

export function randomReader(random: Random): Reader {
  return {
    company: random.one(COMPANIES),
    role: random.one(["staff", "guest"] as const),
    level: random.below(3),
  };
}

/** Whether the rules let a reader see an author. */
export function sees({ company, level }: Reader, author: StoredAuthor): boolean {
  return author.company === company && author.level <= level && author.deletedAt === undefined;
}

/** The headers by which a request names its reader and its database. */
export function headersOf({ company, role, level }: Reader, database: string) {
  return {
    "x-company": company,
    "x-role": role,
    "x-level": String(level),
    "x-database": database,
  };
}
