import { FrameworkModel, prop } from "../../../mod.ts";

/** An entity whose number grows by 1 with each change, in a collection that keeps images. */
export class Counter extends FrameworkModel {
  static override schemaOptions = {
    collection: "counters",
    collectionOptions: { changeStreamPreAndPostImages: { enabled: true } },
  };
  @prop({ type: Number, required: true })
  n!: number;
}
