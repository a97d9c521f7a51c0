import { all, FrameworkModel, one, prop, rest } from "@mongrove/mongrove";

/** An author: an entity of its own, which books refer to. */
@rest({ route: "/authors", methods: [all({ page: { max: 100 } }), one()], open: true })
export class Author extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ type: Number })
  born?: number;
}
