import { getModel } from "@mongrove/mongrove";
import mongoose from "mongoose";
import { Actor } from "./actor.ts";
import { Movie } from "./movie.ts";
import { MOVIES } from "./movies.ts";

/** Stores the movies and actors of the demo, if there are none yet. */
export async function seed(): Promise<void> {
  const movies = getModel(Movie);
  if (await movies.exists({})) return;
  const cast = new Map<
    string,
    { _id: mongoose.Types.ObjectId; movies: mongoose.Types.ObjectId[] }
  >();
  const rows = MOVIES.map(([name, year, description, ...names]) => {
    const _id = new mongoose.Types.ObjectId();
    const actors = names.map((actor) => {
      const entry = cast.get(actor) ?? { _id: new mongoose.Types.ObjectId(), movies: [] };
      cast.set(actor, entry);
      entry.movies.push(_id);
      return entry._id;
    });
    return { _id, name, description, year, actors };
  });
  await getModel(Actor).insertMany([...cast].map(([name, entry]) => ({ name, ...entry })));
  await movies.insertMany(rows);
}
