import {
  all,
  create,
  FrameworkModel,
  getModel,
  one,
  prop,
  remove,
  rest,
  update,
} from "../../../mod.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { mount, type Mounted, type MountOptions } from "../../support/support.ts";

const METHODS = [all(), one(), create({ many: 300 }), update(), remove()];

/** A class with a history, whose entities expire. */
@rest({
  route: "/sheets",
  methods: METHODS,
  trash: { keep: "30d", see: () => true },
  history: true,
})
export class Sheet extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

/** A class without a history, whose entities expire. */
@rest({ route: "/cards", methods: METHODS, trash: { keep: "1d", field: "removedAt" } })
export class Card extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

/** A class whose trash keeps its entities for ever. */
@rest({ route: "/stones", methods: METHODS, trash: true })
export class Stone extends FrameworkModel {
  @prop({ required: true })
  name!: string;
}

export async function serveSheets(options: MountOptions = {}): Promise<Mounted> {
  const app = await mount([Sheet, Card, Stone], {
    mongo: await sharedReplicaSet(),
    actor: () => "ann",
    ...options,
  });
  await getModel(Sheet).init();
  return app;
}

/** The time in a number of days. */
export function inDays(days: number): Date {
  return new Date(Date.now() + days * 24 * 60 * 60 * 1000);
}

/** Stores entities that were put into the trash some days ago. */
export async function storeRemoved(count: number, days: number): Promise<void> {
  const sheets = Array.from({ length: count }, (_, index) => ({
    name: `${index}`,
    __v: 1,
    deletedAt: inDays(-days),
  }));
  await getModel(Sheet).collection.insertMany(sheets as never);
}
