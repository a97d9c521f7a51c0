import { all, arrayProp, create, one, remove, update } from "@mongrove/mongrove";
import { FrameworkModel, prop, type Ref, rest } from "@mongrove/mongrove";
import { Actor } from "./actor.ts";
import { authenticated } from "./hooks/authenticated.ts";
import { keepFields } from "./hooks/keep_fields.ts";
import { paginate } from "./hooks/paginate.ts";

/** A movie. It refers to its actors, who refer to their movies: either file may be loaded first. */
@rest({
  route: "/movies",
  methods: [
    all({ preFetch: paginate, preSend: keepFields("_id", "name") }),
    one(),
    create({ preFetch: authenticated }),
    update({ preFetch: authenticated }),
    remove({ preFetch: authenticated }),
  ],
})
export class Movie extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ required: true })
  description!: string;

  @prop({ type: Number, min: 1888 })
  year?: number;

  @arrayProp({ items: () => Actor })
  actors?: Ref<Actor>[];
}
