/**
 * Reviews of books, which only their authors change.
 *
 * @module
 */
import express from "express";
import { all, arrayProp, create, type Entity, Framework, FrameworkModel } from "@mongrove/mongrove";
import { type FrameworkRequest, one, onlyIf, prop, remove, rest } from "@mongrove/mongrove";
import { RestError, update } from "@mongrove/mongrove";
import { signedIn, userOf } from "./user.ts";

class Review extends FrameworkModel {
  @prop({ required: true, readonly: true })
  user!: string;

  @prop({ type: Number, required: true, min: 1, max: 5 })
  stars!: number;
}

function sign(req: FrameworkRequest, review: Entity<Review>) {
  review.user = userOf(req);
  return review;
}

const own = onlyIf(["user"], (req: FrameworkRequest, review: Pick<Review, "user">) => {
  if (review.user !== userOf(req)) throw new RestError(403, "Not your review");
  return true;
});

@rest({ route: "/books", methods: [all({ page: { max: 100 } }), one(), create()] })
class Book extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @rest({
    methods: [
      all({ page: false }),
      create({ preFetch: signedIn, preSave: sign }),
      update({ preFetch: signedIn, postFetch: own }),
      remove({ preFetch: signedIn, postFetch: own }),
    ],
  })
  @arrayProp({ items: Review, embedded: true, readonly: true })
  reviews?: Review[];
}

export const app = express();
app.use(express.json());
app.use(Framework.initialize({ models: [Book], strict: true, guard: signedIn }));
app.use(Framework.errors());
