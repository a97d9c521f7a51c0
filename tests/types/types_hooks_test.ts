/**
 * What the compiler must accept of hooks, and what it must refuse. `deno test` type-checks this file: a case that
 * compiles although it must not is an unused `@ts-expect-error`, and that is an error.
 */
import { assertEquals } from "@std/assert";
import type { Request as ExpressRequest } from "express-types";
import {
  all,
  and,
  arrayProp,
  asFilter,
  create,
  type Entity,
  type EntityHook,
  FrameworkModel,
  type FrameworkRequest,
  type GuardRequest,
  type HooksOf,
  one,
  or,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../../mod.ts";
import { Actor, Address, expect, type Same } from "../support/same_type.ts";

class User extends FrameworkModel {
  @prop()
  name!: string;
  @prop()
  password?: string;
  hi(): string {
    return this.name;
  }
}

function removePassword(_req: FrameworkRequest, user: Entity<User>): Entity<User> {
  user.password = "";
  expect<Same<typeof user.name, string>>();
  expect<Same<ReturnType<typeof user.hi>, string>>();
  expect<Same<ReturnType<typeof user.isNew extends boolean ? () => 1 : never>, 1>>();
  return user;
}
function named(_req: FrameworkRequest, entity: { name: string }): object | null {
  return entity.name ? entity : null;
}
function keepFields<K extends string>(..._names: K[]): EntityHook<{ [N in K]: unknown }> {
  return (_req, entity) => entity;
}
function generic<T extends FrameworkModel>(_req: FrameworkRequest, entity: Entity<T>): Entity<T> {
  return entity;
}
function owned<T extends FrameworkModel & { owner: string }>(
  _req: FrameworkRequest,
  entity: Entity<T>,
): Entity<T> | null {
  return entity.owner ? entity : null;
}
const isSignedIn = (req: GuardRequest): boolean => req.headers.authorization !== undefined;
const verify = (req: FrameworkRequest): boolean => req.headers.authorization === "x";
async function paginate(req: FrameworkRequest): Promise<boolean> {
  req.framework.options.skip = Number(req.query.page) * 20;
  return await Promise.resolve(true);
}
const forActors = (req: FrameworkRequest<Actor>): boolean => req.framework.filter !== undefined;

// Hooks that fit

@rest({
  route: "/a",
  methods: [
    all({ preSend: keepFields("_id", "name"), preFetch: and(verify, paginate) }),
    one({ preFetch: or(verify, and(verify, paginate)) }),
    create({
      preSave: (_req, entity: Entity<Fits>, previous) => previous === entity ? null : entity,
    }),
    update({ persist: removePassword, postFetch: asFilter(and(removePassword, named)) }),
    remove({ postFetch: or(removePassword, generic) }),
    removeAll({ fetch: () => [], preSave: (_req, entity) => entity }),
  ],
})
@rest({
  route: "/b",
  methods: [
    all({ postFetch: asFilter((req, each) => each.name === req.ip ? each : null) }),
    one({ preSend: and(generic, named) }),
  ],
})
class Fits extends User {
  @prop()
  extra?: string;
}

@rest({
  route: "/typed",
  methods: [
    all<Typed>({
      preFetch: (req) => {
        expect<Same<typeof req, FrameworkRequest<Typed>>>();
        return true;
      },
      fetch: async (req) => (await req.framework.model()).find({ name: "x" }),
      postFetch: (_req, entity) => {
        expect<Same<typeof entity, Entity<Typed>>>();
        return entity.name === "x" ? null : entity;
      },
      preSend: async (_req, entity) => await Promise.resolve({ name: entity.name }),
    }),
    create<Typed>({
      preSave: (_req, entity, previous) => {
        expect<Same<typeof previous, Entity<Typed> | undefined>>();
        return entity;
      },
    }),
    update<Typed>({ postFetch: and((_req, entity) => entity.name ? entity : null) }),
  ],
  getConnection: async (req) => (await req.framework.model()).db,
  scope: (req) => ({ name: req.headers.host }),
})
class Typed extends FrameworkModel {
  @prop()
  name!: string;
}

/** Guards that routes of the application share. */
@rest({
  route: "/guarded",
  methods: [
    all({ preFetch: isSignedIn }),
    one({ preFetch: and(isSignedIn, verify) }),
    create<Guarded>({ preFetch: or(verify, isSignedIn) }),
  ],
  scope: ownerOf,
})
class Guarded extends FrameworkModel {
  @prop({ hidden: isSignedIn })
  owner?: string;
}

function ownerOf(req: GuardRequest) {
  return { owner: req.headers.authorization };
}

/** Operations of any model that has an owner. */
function forOwners<M extends FrameworkModel & { owner: string }>() {
  return [
    all<M>({ preFetch: (req) => req.ip !== undefined, lean: true }),
    one<M>({ postFetch: (req, entity) => entity.owner === req.ip ? entity : null }),
    // @ts-expect-error no entity is given
    create<M>({ preSave: (_req, entity) => void entity.owner }),
  ];
}

@rest({ route: "/g1", methods: forOwners<OwnedFits>() })
@rest({ route: "/g", methods: [all({ postFetch: generic }), one({ postFetch: owned })] })
class OwnedFits extends FrameworkModel {
  @prop()
  owner!: string;
}

@rest({ route: "/h", methods: [all({ preFetch: forActors }), one({ postFetch: asFilter(owned) })] })
class ActorFits extends Actor {
  @prop()
  owner!: string;
}

// Hooks that do not fit

// @ts-expect-error a hook for User on a model that is none
@rest({ route: "/x", methods: [all(), one({ postFetch: removePassword })] })
class Refused1 extends FrameworkModel {
  @prop()
  title!: string;
}
// @ts-expect-error it keeps a field that is not there
@rest({ route: "/x", methods: [all({ preSend: keepFields("_id", "nmae") })] })
class Refused2 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error preFetch gives a boolean
@rest({ route: "/x", methods: [all({ preFetch: () => "yes" })] })
class Refused3 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error inline hooks are typed by another model
@rest({ route: "/x", methods: [all<Typed>({ preSend: (_req, entity) => entity })] })
class Refused4 extends FrameworkModel {
  @prop()
  title!: string;
}
// @ts-expect-error a request of another model
@rest({ route: "/x", methods: [all({ preFetch: forActors })] })
class Refused5 extends FrameworkModel {
  @prop()
  title!: string;
}
// @ts-expect-error no owner, as the generic hook asks
@rest({ route: "/x", methods: [all({ postFetch: owned })] })
class Refused6 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no owner, as one of two composed hooks asks
@rest({ route: "/x", methods: [all({ postFetch: and(owned, generic) })] })
class Refused7 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no owner, as an alternative asks
@rest({ route: "/x", methods: [all({ postFetch: or(named, owned) })] })
class Refused8 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no owner, under asFilter
@rest({ route: "/x", methods: [all({ postFetch: asFilter(owned) })] })
class Refused9 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error a hook that there is not
@rest({ route: "/x", methods: [all({ postFech: generic })] })
class Refused10 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no model
@rest({ route: "/x", methods: [all()] })
class Refused11 {
  name!: string;
}
// @ts-expect-error the second of two operations does not fit
@rest({ route: "/x", methods: [all({ postFetch: generic }), update({ preSave: removePassword })] })
class Refused12 extends FrameworkModel {
  @prop()
  name!: string;
}
// @ts-expect-error no route
@rest({ methods: [all()] })
class Refused13 extends FrameworkModel {}
// @ts-expect-error an operation that is not called
@rest({ route: "/x", methods: [all] })
class Refused14 extends FrameworkModel {}
// @ts-expect-error a hook that gives text
@rest({ route: "/x", methods: [all({ preSend: () => "text" })] })
class Refused15 extends FrameworkModel {}
// @ts-expect-error an option that there is not
@rest({ route: "/x", methods: [all()], schemaOption: {} })
class Refused16 extends FrameworkModel {}
// @ts-expect-error a persist hook for another model
@rest({ route: "/x", methods: [create({ persist: removePassword })] })
class Refused17 extends FrameworkModel {}

// @ts-expect-error a list saves nothing
@rest({ route: "/x", methods: [all({ preSave: generic })] })
class Refused18 extends FrameworkModel {}
// @ts-expect-error a removal answers with nothing
@rest({ route: "/x", methods: [remove({ preSend: generic })] })
class Refused19 extends FrameworkModel {}
// @ts-expect-error no operations
@rest({ route: "/x", methods: [] })
class Refused20 extends FrameworkModel {}
// @ts-expect-error a hook that returns nothing
@rest({ route: "/x", methods: [create({ preSave: (_req, _entity) => {} })] })
class Refused21 extends FrameworkModel {}
// @ts-expect-error a scope that returns nothing
@rest({ route: "/x", methods: [all()], scope: () => {} })
class Refused22 extends FrameworkModel {}

// Hooks of a list that stands elsewhere

const shared = [
  all({ preFetch: verify, preSend: named }),
  one<User>({ postFetch: removePassword }),
];
const some: HooksOf<User> = { preFetch: verify };

@rest({ route: "/shared", methods: [...shared, removeAll(some), create(some)] })
class Shared extends User {}
// @ts-expect-error hooks of the list expect another model
@rest({ route: "/x", methods: [...shared, create()] })
class Refused23 extends FrameworkModel {
  @prop()
  title!: string;
}
// @ts-expect-error a hook of the list returns nothing
const refused = [all({ preFetch: () => {} })];

// Inline hooks, typed by the class

@rest({
  route: "/inline",
  methods: [
    all({
      postFetch: (req, entity) => {
        expect<Same<typeof req, FrameworkRequest<Inline>>>();
        expect<Same<typeof entity, Entity<Inline>>>();
        return entity;
      },
    }),
    one({
      lean: true,
      preSend: (_req, entity) => {
        expect<Same<typeof entity, Inline>>();
        return { name: entity.name };
      },
    }),
    update({ preSave: and((_req, entity) => entity.name ? entity : null) }),
  ],
  scope: (req) => {
    expect<Same<typeof req, FrameworkRequest<Inline>>>();
    return {};
  },
})
class Inline extends FrameworkModel {
  @prop()
  name?: string;
  @rest({
    methods: [all({
      preSend: (_req, entity) => {
        expect<Same<typeof entity, Entity<Address>>>();
        return entity;
      },
    })],
  })
  @arrayProp({ items: Address, embedded: true })
  addresses?: Address[];
}

function compositions(): void {
  const both = and(removePassword, named);
  expect<Same<Parameters<typeof both>[1], Entity<User>>>();
  const first: (req: FrameworkRequest) => unknown = or(verify, paginate);
  const filter = asFilter(removePassword);
  const route = (req: ExpressRequest<{ id: string }>) => [isSignedIn(req), ownerOf(req)];
  // @ts-expect-error a route of the application has no framework
  const failing = (req: ExpressRequest) => verify(req);
  void [route, failing];
  expect<Same<Parameters<typeof filter>[1], Entity<User>>>();
  // @ts-expect-error text is no hook
  and("x");
  // @ts-expect-error nothing is no hook
  asFilter();
  void first;
}

Deno.test("the types of hooks hold: every case above compiles, or fails to, as it says", () => {
  const fitting = [Fits, Typed, Guarded, OwnedFits, ActorFits, Shared, Inline];
  const unfitting = [
    ...[Refused1, Refused2, Refused3, Refused4, Refused5, Refused6, Refused7, Refused8, Refused9],
    ...[Refused18, Refused19, Refused20, Refused21, Refused22, Refused23],
    ...[Refused10, Refused11, Refused12, Refused13, Refused14, Refused15, Refused16, Refused17],
  ];
  assertEquals([fitting.length, [...unfitting, ...refused].length], [7, 24]);
  assertEquals(typeof compositions, "function");
});
