import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  rest,
} from "../../../mod.ts";
import type { FrameworkRequest } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { linksOf, readPages } from "../page/links.ts";
import { mount } from "../../support/support.ts";

/** The order of the hook is in a header. */
const byHeader = (req: FrameworkRequest) => {
  req.framework.options.sort = JSON.parse(req.get("x-order") ?? "{}");
  return true;
};

const PAGED = { page: { size: 2, max: 2 }, sort: ["title"], preFetch: byHeader } as const;

class Person extends FrameworkModel {
  @prop()
  name?: string;
}

class Role extends Person {
  @arrayProp({ items: String })
  words?: string[];
}

@rest({ route: "/films", methods: [all(PAGED)] })
@rest({ route: "/shown", methods: [all({ ...PAGED, preSend: pass })] })
@rest({ route: "/lean", methods: [all({ ...PAGED, preSend: pass, lean: true })] })
class Film extends FrameworkModel {
  @prop()
  title?: string;
  @arrayProp({ items: Role, embedded: true })
  cast?: Role[];
  @prop({ type: Person })
  director?: Person;
  @prop({ type: Map, of: String })
  names?: Map<string, string>;
  @prop({ type: Object })
  notes?: unknown;
  @arrayProp({ items: String })
  tags?: string[];
}

@rest({ route: "/studios", methods: [one()] })
class Studio extends FrameworkModel {
  @rest({ methods: [all(PAGED)] })
  @arrayProp({ items: Film, embedded: true })
  films?: Film[];
  @rest({ methods: [all({ ...PAGED, preSend: pass })] })
  @arrayProp({ items: Film })
  others?: Ref<Film>[];
}

const NAMES = ["ab", "b", "", "ca", "bc", "ac", "c"];

/** A film whose values have the order of its names, one list or another. */
function buildFilm(letters: string) {
  const named = [...letters].map((name) => ({ name, words: [name] }));
  return {
    _id: new mongoose.Types.ObjectId(),
    title: letters,
    cast: named,
    notes: named,
    director: { name: letters },
    names: { first: letters },
    tags: [...letters],
  };
}

/** Serves the same films as roots and as parts. */
async function mountFilms() {
  const app = await mount([Film, Studio]);
  const films = NAMES.map(buildFilm);
  const studio = { films, others: films.map(({ _id }) => _id) };
  await getModel(Film).collection.insertMany(films as never);
  const { insertedId } = await getModel(Studio).collection.insertOne(studio as never);
  const at = `/studios/${insertedId}`;
  return Object.assign(app, {
    lists: ["/films", "/shown", "/lean", `${at}/films`, `${at}/others`],
  });
}

const by = (order: unknown) => ({ headers: { "x-order": JSON.stringify(order) } });

/** The titles of all pages of a list, and the parameters that have led to them. */
async function readAll(app: Awaited<ReturnType<typeof mountFilms>>, list: string, order: unknown) {
  const pages = await readPages(app, list, by(order));
  const links = pages.map((page) => linksOf(page).next?.replace(/^.*\?(\w+)=.*$/, "$1"));
  const titles = pages.flatMap(({ body }) => (body as Film[]).map(({ title }) => title));
  return { titles, links: new Set(links.slice(0, -1)) };
}

for (
  const order of ["cast.name", { "cast.words": -1 }, "tags", "tags.0", "director.name notes.name"]
) {
  test(`pages by ${JSON.stringify(order)} of a hook lead through a list once, by skip`, async () => {
    await using app = await mountFilms();
    for (const list of app.lists) {
      const { titles, links } = await readAll(app, list, order);
      assertEquals([list, titles.toSorted(), links], [list, NAMES.toSorted(), new Set(["skip"])]);
      const [film] = await app.read<{ _id: string }[]>(list, by(order));
      const { status, body } = await app.get(`${list}?after=${film?._id}`, by(order));
      const allowed = "no value in this order: its pages continue by skip";
      const message = `Parameter "after" takes ${allowed}`;
      assertEquals([status, body], [400, {
        ...{ code: "BAD_FORMAT", message, parameter: "after", allowed },
      }]);
      const asked = await app.get(`${list}?sort=title`, by(order));
      assert(linksOf(asked).next?.includes("after="), "the order of a client is one of values");
    }
  });
}

for (const order of ["director.name", "-names.first", { title: 1, "director.name": -1 }]) {
  test(`pages by ${JSON.stringify(order)} of a hook lead through a list once, by after`, async () => {
    await using app = await mountFilms();
    for (const list of app.lists) {
      const { titles, links } = await readAll(app, list, order);
      assertEquals([list, titles.toSorted(), links], [list, NAMES.toSorted(), new Set(["after"])]);
    }
  });
}
