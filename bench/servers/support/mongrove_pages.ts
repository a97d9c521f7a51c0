import type { Schema } from "mongoose";
import { all, FrameworkModel, one, prop, type Ref, rest } from "../../../mod.ts";
import type { ModelClass } from "../../../mod.ts";
import { guarded } from "../../plan/collections.ts";
import { DEEP, DEEP_SORT, PAGED, POPULATED, RANKED, WRITERS } from "../../plan/ranked.ts";
import { Item, look } from "./mongrove_items.ts";

@rest({ route: `/${WRITERS}`, methods: [one()], schemaOptions: { collection: WRITERS } })
class Writer extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  about?: string;
  @prop({ type: Date })
  joined?: Date;
}

/** The fields of what is read in pages. */
abstract class Ranked extends Item {
  @prop({ type: Number })
  rank!: number;
  @prop({ ref: Writer })
  writer?: Ref<Writer>;
}

const page = { size: 20, max: 100 };

@rest({
  route: `/${PAGED}`,
  methods: [all({ page, sort: ["rank"], count: {} })],
  schemaOptions: { collection: RANKED },
})
class Paged extends Ranked {}

@rest({
  route: `/${POPULATED}`,
  methods: [all({ page, sort: ["rank"], populate: { writer: true } })],
  schemaOptions: { collection: RANKED },
})
class Populated extends Ranked {}

@rest({
  route: `/${DEEP}`,
  methods: [all({ page, sort: [DEEP_SORT] })],
  schemaOptions: { collection: DEEP },
})
class Deep extends Item {
  static override configure(schema: Schema): void {
    schema.index({ [DEEP_SORT]: 1, _id: 1 });
  }
}

@rest({
  route: `/${guarded("documents", PAGED)}`,
  methods: [all({ page, sort: ["rank"], postFetch: look })],
  schemaOptions: { collection: RANKED },
})
class DocumentsPage extends Ranked {}

@rest({
  route: `/${guarded("lean", PAGED)}`,
  methods: [all({ page, sort: ["rank"], lean: true, postFetch: look })],
  schemaOptions: { collection: RANKED },
})
class LeanPage extends Ranked {}

/** Gives the models whose lists have pages, with and without hooks, and what they refer to. */
export function pagedModels(): ModelClass[] {
  return [Paged, Populated, Deep, DocumentsPage, LeanPage, Writer];
}
