import { all, arrayProp, asFilter, create, FrameworkModel, one, prop } from "@mongrove/mongrove";
import { remove, removeAll, rest, update } from "@mongrove/mongrove";
import { Book } from "./book.ts";
import { keepLocked } from "./keep_locked.ts";
import { Place } from "./place.ts";

/** A shelf. Its one() guards itself and everything on it. */
@rest({
  route: "/shelves",
  methods: [
    all({ postFetch: asFilter(keepLocked), page: false }),
    one({ postFetch: keepLocked }),
    create(),
  ],
  open: true,
})
export class Shelf extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ default: false })
  locked!: boolean;

  @rest({
    methods: [all({ page: false }), one(), create(), update(), remove(), removeAll()],
    open: true,
  })
  @arrayProp({ items: Book, embedded: true })
  books?: Book[];

  @rest({ methods: [one(), create(), update(), remove()], open: true })
  @prop({ type: Place })
  place?: Place;
}
