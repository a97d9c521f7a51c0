import { all, create, type Defaulted, FrameworkModel } from "@mongrove/mongrove";
import { one, prop, remove, rest, update } from "@mongrove/mongrove";

/** Everybody on this machine gets the answer that belongs to a key. */
const idempotency = { keep: "24h", caller: () => "" } as const;

@rest({
  route: "/todos",
  open: true,
  methods: [all({ live: true, page: false }), one(), create({ idempotency }), update(), remove()],
})
export class Todo extends FrameworkModel {
  @prop({ required: true, maxLength: 40 })
  text!: string;

  @prop({ default: false })
  done!: Defaulted<boolean>;
}
