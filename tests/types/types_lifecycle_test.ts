/** What the compiler must accept and refuse of the options about references and the life of entities. */
import { assertEquals } from "@std/assert";
import {
  all,
  and,
  arrayProp,
  define,
  FrameworkModel,
  type FrameworkRequest,
  prop,
  type Ref,
  rest,
} from "../../mod.ts";
import { Actor, expect, type Same } from "../support/same_type.ts";

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

class Shown extends FrameworkModel {
  @prop({ ref: Actor, unguarded: true })
  actor?: Ref<Actor>;
  @arrayProp({ items: () => Actor, unguarded: true })
  actors?: Ref<Actor>[];
  // @ts-expect-error: no reference
  @prop({ unguarded: true })
  name?: string;
  // @ts-expect-error: no references
  @arrayProp({ items: String, unguarded: true })
  names?: string[];
}

const methods = [all()] as const;
const see = (req: FrameworkRequest) => req.url === "";
const any = (req: FrameworkRequest) => req.url === "";

@rest({ route: "/fields", methods, trash: { see, restore: any } })
@rest({ route: "/combined", methods, trash: { see, restore: and(any, () => true) } })
@rest({
  route: "/inline",
  methods,
  trash: {
    see: (req) => req.url === "",
    restore: (req) => {
      expect<Same<typeof req, FrameworkRequest<Kept>>>();
      return true;
    },
  },
})
class Kept extends FrameworkModel {
  @prop()
  name!: string;
}

const ofKept = (req: FrameworkRequest<Kept>) => req.framework.filter.name === "a";

// @ts-expect-error: a hook of another model
@rest({ route: "/foreign", methods, trash: { see, restore: ofKept } })
class Foreign extends FrameworkModel {
  @prop({ type: Number })
  size?: number;
}

// @ts-expect-error: no boolean
@rest({ route: "/texts", methods, trash: { see, restore: () => "yes" } })
class Texts extends FrameworkModel {}

class Part extends FrameworkModel {
  actor!: Ref<Actor>;
}
define(Part, { fields: { actor: { ref: Actor, onDelete: { cascade: "forGood" } } } });

function refused(): void {
  // @ts-expect-error: another cascade
  define(Part, { fields: { actor: { ref: Actor, onDelete: { cascade: true } } } });
  const fields = { actor: { ref: Actor } } as const;
  define(Part, {
    fields,
    rest: {
      route: "/parts",
      methods,
      trash: {
        see: (req) => req.url === "",
        restore: (req) => {
          expect<Same<typeof req, FrameworkRequest<Part>>>();
          return true;
        },
      },
    },
  });
  const ofPart = (req: FrameworkRequest<Part>) => req.url === "";
  define(Part, { fields, rest: { route: "/parts", methods, trash: { see, restore: ofPart } } });
  // @ts-expect-error: a hook of another model
  define(Part, { fields, rest: { route: "/parts", methods, trash: { see, restore: ofKept } } });
  // @ts-expect-error: an unknown option
  define(Part, { fields, rest: { route: "/parts", methods, trash: { sees: see } } });
}

Deno.test("the options about the life of entities have the types that every case above says", () => {
  assertEquals([Role, Shown, Kept, Foreign, Texts, refused].length, 6);
});
