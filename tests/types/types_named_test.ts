/**
 * What the compiler must accept of hooks with names, and what it must refuse. `deno test` type-checks this file: a case
 * that compiles although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { assertEquals } from "@std/assert";
import type { Types } from "mongoose";
import {
  all,
  and,
  asFilter,
  FrameworkModel,
  type FrameworkRequest,
  leaveOut,
  one,
  onlyIf,
  or,
  prop,
  rest,
  update,
} from "../../mod.ts";
import { expect, type Same } from "../support/same_type.ts";

class Place extends FrameworkModel {
  @prop()
  city!: string;
}

class Named extends FrameworkModel {
  @prop({ type: Boolean, default: false })
  shown!: boolean;
  @prop()
  owner?: string;
  @prop()
  name!: string;
  @prop({ type: Place })
  home?: Place;
  @prop({ type: Map, of: String })
  more?: Map<string, string>;
  hi(): string {
    return this.name;
  }
}

// Inside of an operation, the class gives the types

const inline = [
  all<Named>({
    postFetch: onlyIf(["shown", "home", "more"], (req, note) => {
      expect<Same<typeof req, FrameworkRequest<Named>>>();
      expect<Same<typeof note._id, Types.ObjectId>>();
      expect<Same<typeof note.shown, boolean>>();
      expect<Same<ReturnType<NonNullable<typeof note.more>["get"]>, string | undefined>>();
      // @ts-expect-error "owner" is not named
      void note.owner;
      // @ts-expect-error the object is readonly
      note.shown = true;
      // @ts-expect-error and so are the objects in it
      if (note.home) note.home.city = "Rome";
      // @ts-expect-error and its maps
      note.more?.set("a", "b");
      return note.shown;
    }),
    filter: ["shown"],
    preSend: leaveOut(
      ["owner"],
      ["shown"],
      async (_req, { shown }) => await Promise.resolve(!shown),
    ),
  }),
  one<Named>({ lean: true, postFetch: onlyIf(["shown"], (_req, note) => note.shown) }),
  update<Named>({
    postFetch: and(
      onlyIf(["shown"], (_req, note) => note.shown),
      or(
        onlyIf(["owner"], (_req, note) => note.owner === "x"),
        onlyIf(["name"], (_req, n) => n.name === "x"),
      ),
    ),
  }),
  // @ts-expect-error no field has this name
  all<Named>({ postFetch: onlyIf(["shwn"], () => true) }),
  // @ts-expect-error a method is no field
  all<Named>({ postFetch: onlyIf(["hi"], () => true) }),
  // @ts-expect-error the test returns a boolean
  all<Named>({ postFetch: onlyIf(["shown"], (_req, note) => note) }),
  // @ts-expect-error the class promises the field to clients: "name" is not optional
  all<Named>({ preSend: leaveOut(["name"], ["shown"], (_req, note) => note.shown) }),
  // @ts-expect-error no field has this name
  all<Named>({ preSend: leaveOut(["ownr"], ["shown"], (_req, note) => note.shown) }),
];

// Elsewhere, the annotation of the parameter does

function isShown() {
  return onlyIf(["shown"], (_req: FrameworkRequest, note: Pick<Named, "shown">) => note.shown);
}

const isOwn = onlyIf(
  ["owner"],
  (req: FrameworkRequest, { owner }: { readonly owner?: string }) => owner === req.headers.host,
);
const hides = leaveOut(
  ["owner"],
  ["shown"],
  (_req: FrameworkRequest, { shown }: Pick<Named, "shown">) => !shown,
);

// @ts-expect-error the annotation has no such field
onlyIf(["shwn"], (_req: FrameworkRequest, note: Pick<Named, "shown">) => note.shown);
// @ts-expect-error the test reads "owner", which the list does not name
onlyIf(["shown"], (_req: FrameworkRequest, n: Pick<Named, "shown" | "owner">) => n.owner === "x");
// @ts-expect-error a whole entity is no object with the named fields
onlyIf(["shown"], (_req: FrameworkRequest, note: Named) => note.shown);

@rest({
  route: "/fits",
  methods: [
    all({ postFetch: isShown(), filter: ["shown"], preSend: hides }),
    one({ postFetch: and(asFilter(isShown()), isOwn) }),
    update({ postFetch: isOwn }),
  ],
})
class Fits extends Named {}

// @ts-expect-error the class has no such fields
@rest({ route: "/other", methods: [all({ postFetch: isShown() })] })
class Other extends FrameworkModel {
  @prop()
  text?: string;
}

Deno.test("onlyIf() and leaveOut() with names are typed", () => {
  assertEquals(inline.length, 8);
  assertEquals([Fits.name, Other.name], ["Fits", "Other"]);
});
