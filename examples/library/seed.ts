import { getModel } from "@mongrove/mongrove";
import { Author } from "./author.ts";
import { Shelf } from "./shelf.ts";

/** Stores a few shelves, if there are none yet. */
export async function seed(): Promise<void> {
  const shelves = getModel(Shelf);
  if (await shelves.exists({})) return;
  const [lem, dick] = await getModel(Author).insertMany([
    { name: "Stanisław Lem", born: 1921 },
    { name: "Philip K. Dick", born: 1928 },
  ]);
  await shelves.insertMany([
    {
      name: "Science fiction",
      place: { room: "Hall", floor: 1 },
      books: [
        { title: "Solaris", year: 1961, signature: "SF 1", authors: [lem?._id] },
        { title: "Ubik", year: 1969, signature: "SF 2", authors: [dick?._id] },
      ],
    },
    { name: "First editions", locked: true, books: [{ title: "Eden", year: 1959 }] },
  ]);
}
