import {
  action,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type Hidden,
  one,
  prop,
  type ReadOnly,
  type Ref,
  remove,
  removeAll,
  replace,
  rest,
  update,
  updateAll,
} from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";

/** A value that no record may contain. */
export const SECRET = "s3cret";

class Step extends FrameworkModel {
  @prop()
  text?: string;
  @prop({ hidden: true, default: SECRET })
  token!: Hidden<string>;
}

@rest({
  route: "/remarks",
  methods: [one()],
  history: true,
  schemaOptions: { collection: "remarks" },
})
export class Remark extends FrameworkModel {
  @prop()
  text?: string;
}

/** An entity whose writes are recorded, by statements and by documents, as a whole and in parts. */
@rest({
  route: "/plans",
  methods: [
    one(),
    create({ many: 10 }),
    update(),
    updateAll({ fields: ["state"] }),
    replace(),
    remove(),
    removeAll(),
    action("shout", {
      on: "one",
      run: async (_req, plan: Entity<Plan>) => {
        plan.name = plan.name.toUpperCase();
        return await plan.save();
      },
    }),
  ],
  history: true,
  main: true,
  schemaOptions: { collection: "plans", timestamps: true },
})
@rest({
  route: "/hooked-plans",
  methods: [one({ preSend: pass }), update({ preSave: pass }), remove({ preSave: pass })],
  history: true,
})
export class Plan extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ default: "open" })
  state!: string;
  @prop({ type: BigInt })
  cost?: bigint;
  @prop({ hidden: true, default: SECRET })
  secret!: Hidden<string>;
  @arrayProp({ items: String })
  tags!: string[];
  @rest({ methods: [create(), update(), remove(), updateAll({ fields: ["text"] })] })
  @arrayProp({ items: Step, embedded: true, apart: false })
  steps!: Step[];
  @rest({ methods: [create(), update(), remove()] })
  @arrayProp({ items: Remark })
  remarks!: Ref<Remark>[];
  @prop({ stamp: "updatedBy" })
  readonly changedBy?: ReadOnly<string>;
}
