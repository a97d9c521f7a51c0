import { all, arrayProp, create, one, remove, update } from "@mongrove/mongrove";
import { FrameworkModel, prop, type Ref, rest } from "@mongrove/mongrove";
import { keepFields } from "./hooks/keep_fields.ts";
import { paginate } from "./hooks/paginate.ts";
import { Movie } from "./movie.ts";

/** An actor. Its list shows what hooks can do: pages of their own, and other fields. */
@rest({
  route: "/actors",
  methods: [
    all({
      preFetch: paginate,
      preSend: keepFields("_id", "name"),
      parameters: ["page"],
      page: false,
      open: true,
    }),
    one({ open: true }),
    create(),
    update(),
    remove(),
  ],
})
export class Actor extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @arrayProp({ items: () => Movie })
  movies?: Ref<Movie>[];
}
