import { all, create, one, remove, removeAll, replace, update } from "@mongrove/mongrove";
import { arrayProp, FrameworkModel, prop, type Ref, rest, StoredFile } from "@mongrove/mongrove";
import { updateAll } from "@mongrove/mongrove";
import type { Schema } from "mongoose";
import { Actor } from "./actor.ts";

/** A movie. It refers to its actors, who refer to their movies: either file may be loaded first. */
@rest({
  route: "/movies",
  methods: [
    all({
      page: { size: 20, max: 100 },
      sort: ["year", "name"],
      select: ["name", "year"],
      populate: { actors: { select: ["name"] } },
      count: true,
      open: true,
      summary: "Movies, page by page",
    }),
    one({ populate: { actors: { select: ["name"] } }, open: true }),
    create({
      summary: "Add a movie",
      example: { name: "Playground", description: "A test", year: 2024 },
    }),
    update(),
    remove(),
    // The demo also runs on a standalone server, which has no transactions
    updateAll({ fields: ["year"], max: 100, atomic: false }),
    removeAll({ max: 100 }),
  ],
})
export class Movie extends FrameworkModel {
  /** Each order by a declared field has an index. */
  static override configure(schema: Schema): void {
    for (const direction of [1, -1] as const) {
      schema.index({ year: direction, _id: 1 });
      schema.index({ name: direction, _id: 1 });
    }
  }

  @prop({ required: true, description: "The original title", example: "Metropolis" })
  name!: string;

  @prop({ required: true })
  description!: string;

  @prop({ type: Number, min: 1888 })
  year?: number;

  @arrayProp({ items: () => Actor })
  actors?: Ref<Actor>[];

  @rest({
    methods: [one({ open: true }), replace(), remove()],
  })
  @prop({
    type: StoredFile,
    maxBytes: 2_000_000,
    accept: ["image/png", "image/jpeg"],
    inline: true,
  })
  poster?: StoredFile;
}
