import { all, arrayProp, create, FrameworkModel, one, prop } from "@mongrove/mongrove";
import { type Ref, remove, removeAll, rest, update } from "@mongrove/mongrove";
import { Author } from "./author.ts";

/** A book. It has no route and no collection: it lives on its shelf. */
export class Book extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ type: Number })
  year?: number;

  @prop({ hidden: true })
  signature?: string;

  // A body that could list any author would open that author to these routes
  @rest({
    methods: [all({ page: false }), one(), create(), update(), remove(), removeAll()],
    open: true,
  })
  @arrayProp({ items: Author, readonly: true })
  authors?: Ref<Author>[];
}
