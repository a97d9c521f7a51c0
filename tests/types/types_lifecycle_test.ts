/** What the compiler must accept and refuse of the options about the life of entities. */
import { assertEquals } from "@std/assert";
import { arrayProp, define, FrameworkModel, prop, type Ref } from "../../mod.ts";
import { Actor } from "../support/same_type.ts";

class Role extends FrameworkModel {
  @prop({ ref: Actor, onDelete: { cascade: "forGood" } })
  actor?: Ref<Actor>;
  @prop({ ref: () => Actor, onDelete: "cascade" })
  second?: Ref<Actor>;
  // @ts-expect-error: another cascade
  @prop({ ref: Actor, onDelete: { cascade: "now" } })
  third?: Ref<Actor>;
  // @ts-expect-error: a list has no cascade
  @arrayProp({ items: Actor, onDelete: { cascade: "forGood" } })
  others!: Ref<Actor>[];
}

class Part extends FrameworkModel {
  actor?: Ref<Actor>;
}
define(Part, { fields: { actor: { ref: Actor, onDelete: { cascade: "forGood" } } } });

function refused(): void {
  // @ts-expect-error: another cascade
  define(Part, { fields: { actor: { ref: Actor, onDelete: { cascade: true } } } });
}

Deno.test("the options about the life of entities have the types that every case above says", () => {
  assertEquals([Role, refused].length, 2);
});
