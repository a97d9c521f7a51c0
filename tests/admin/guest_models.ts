import mongoose from "mongoose";
import { all, arrayProp, create, FrameworkModel, one, prop, rest, update } from "../../mod.ts";

class Remark extends FrameworkModel {
  @prop()
  text?: string;
}

/** The part of an article that guests see, as if there were no more. */
@rest({
  route: "/articles",
  trash: true,
  history: true,
  methods: [
    all({ filter: ["name"], sort: ["name"], page: { max: 50 } }),
    one(),
    create(),
    update(),
  ],
})
export class Article extends FrameworkModel {
  @prop({ required: true })
  name!: string;

  @prop({ type: mongoose.Schema.Types.ObjectId })
  vendor?: mongoose.Types.ObjectId;

  @rest({ methods: [all()] })
  @arrayProp({ items: Remark, embedded: true })
  remarks?: Remark[];
}
