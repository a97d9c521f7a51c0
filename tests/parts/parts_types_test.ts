import { assertEquals } from "@std/assert";
import {
  all,
  and,
  arrayProp,
  asFilter,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  one,
  or,
  prop,
  type Ref,
  rest,
  update,
} from "../../mod.ts";
import type { Same } from "../support/same_type.ts";

class Actor extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  shout(): string {
    return this.name.toUpperCase();
  }
}

class Film extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @prop({ type: Number })
  year?: number;
}

function isSame<A, B>(same: Same<A, B>): void {
  assertEquals(same, true);
}

function forActor(_req: FrameworkRequest, actor: Entity<Actor>): object {
  return { said: actor.shout() };
}

function forFilm(_req: FrameworkRequest, film: Entity<Film>): object {
  return { title: film.title };
}

function forActorRequest(req: FrameworkRequest<Actor>): boolean {
  return req.framework.operation !== undefined;
}

function forAny(_req: FrameworkRequest, entity: object): object {
  return entity;
}

Deno.test("rest() of a property takes hooks of the model that it holds", () => {
  class Cast extends FrameworkModel {
    @rest({ methods: [all({ preSend: forActor, preFetch: forActorRequest }), one()] })
    @arrayProp({ items: Actor, embedded: true })
    embedded?: Actor[];
    @rest({ methods: [one({ postFetch: forActor }), create({ preSave: forActor })] })
    @prop({ type: Actor })
    single?: Actor;
    @rest({ methods: [update({ persist: forActor })] })
    @arrayProp({ items: Actor })
    references?: Ref<Actor>[];
    @rest({ methods: [one({ preSend: forActor })], route: "/the/lead" })
    @prop({ ref: () => Actor })
    reference?: Ref<Actor>;
    @rest({
      methods: [all({ preSend: forAny, preFetch: () => true })],
      scope: () => ({ name: "A" }),
    })
    @arrayProp({ items: Actor, embedded: true })
    any!: Actor[];
    @rest({ methods: [all({ preSend: asFilter(and(forActor, or(forActor, forAny))) })] })
    @arrayProp({ items: Actor, embedded: true })
    composed?: Actor[] | null;
  }
  assertEquals(Cast.length, 0);
});

Deno.test("rest() of a property refuses hooks of another model", () => {
  class Cast extends FrameworkModel {
    // @ts-expect-error: hooks of films on embedded actors
    @rest({ methods: [all({ preSend: forFilm })] })
    @arrayProp({ items: Actor, embedded: true })
    embedded?: Actor[];
    // @ts-expect-error: hooks of films on one embedded actor
    @rest({ methods: [one(), update({ postFetch: forFilm })] })
    @prop({ type: Actor })
    single?: Actor;
    // @ts-expect-error: hooks of films on references to actors
    @rest({ methods: [one({ preSave: forFilm })] })
    @arrayProp({ items: Actor })
    references?: Ref<Actor>[];
    // @ts-expect-error: hooks of films on a reference to an actor
    @rest({ methods: [one({ persist: forFilm })] })
    @prop({ ref: Actor })
    reference?: Ref<Actor>;
  }
  assertEquals([Cast.length, Film.length], [0, 0]);
});

Deno.test("rest() of a property refuses hooks of another model whatever else it is given", () => {
  class Cast extends FrameworkModel {
    // @ts-expect-error: with a route of its own it is no other
    @rest({ methods: [all({ preSend: forFilm })], route: "/others" })
    @arrayProp({ items: Actor, embedded: true })
    routed?: Actor[];
    // @ts-expect-error: nor with a scope
    @rest({ methods: [all({ preSend: forFilm })], scope: () => ({}) })
    @arrayProp({ items: Actor, embedded: true })
    scoped?: Actor[];
    // @ts-expect-error: a composition expects what its parts expect
    @rest({ methods: [all({ preSend: and(forActor, forFilm) })] })
    @arrayProp({ items: Actor, embedded: true })
    composed?: Actor[];
  }
  assertEquals(Cast.length, 0);
});

Deno.test("rest() of a property types inline hooks by the model that the operation names", () => {
  class Cast extends FrameworkModel {
    @rest({
      methods: [
        all<Actor>({
          preFetch: async (req) => (await req.framework.model()).modelName !== "",
          preSend: (_req, actor) => ({ said: actor.shout() }),
        }),
        update<Actor>({
          preSave: (_req, actor, previous) => {
            isSame<typeof actor, Entity<Actor>>(true);
            return actor.name === previous?.name ? actor : null;
          },
        }),
      ],
    })
    @arrayProp({ items: Actor, embedded: true })
    actors?: Actor[];
    @rest({
      methods: [all<Actor>({
        // @ts-expect-error: an actor has no title
        preSend: (_req, actor) => ({ title: actor.title }),
      })],
    })
    @arrayProp({ items: Actor })
    others?: Ref<Actor>[];
  }
  assertEquals(Cast.length, 0);
});

Deno.test("rest() of a property refuses an operation that names another model", () => {
  class Cast extends FrameworkModel {
    // @ts-expect-error: the operation names another model
    @rest({ methods: [all<Film>({ preSend: (_req, film) => ({ title: film.title }) })] })
    @arrayProp({ items: Actor, embedded: true })
    films?: Actor[];
  }
  assertEquals(Cast.length, 0);
});

Deno.test("rest() of a property of identifiers, which do not tell their model, takes any hooks", () => {
  class Cast extends FrameworkModel {
    @rest({ methods: [all({ preSend: forActor }), one({ preSend: forAny })] })
    @arrayProp({ items: Actor })
    references?: string[];
    @rest({ methods: [one({ preSend: forActor })] })
    @prop({ ref: Actor })
    reference?: string;
  }
  assertEquals(Cast.length, 0);
});

Deno.test("rest() of a property takes neither what a class alone has, nor what is no hook", () => {
  class Cast extends FrameworkModel {
    // @ts-expect-error: schema options belong to the class
    @rest({ methods: [all()], schemaOptions: { timestamps: true } })
    @arrayProp({ items: Actor, embedded: true })
    options?: Actor[];
    // @ts-expect-error: with a route they still do
    @rest({ methods: [all()], route: "/o", schemaOptions: { timestamps: true } })
    @arrayProp({ items: Actor, embedded: true })
    routed?: Actor[];
    // @ts-expect-error: the connection is that of the root
    @rest({ methods: [all()], getConnection: () => null as never })
    @arrayProp({ items: Actor, embedded: true })
    connected?: Actor[];
    // @ts-expect-error: no hook has that name
    @rest({ methods: [all({ afterwards: forActor })] })
    @arrayProp({ items: Actor, embedded: true })
    misnamed?: Actor[];
    // @ts-expect-error: a part without operations is none
    @rest({})
    @arrayProp({ items: Actor, embedded: true })
    bare?: Actor[];
  }
  assertEquals(Cast.length, 0);
});

Deno.test("rest() of a class needs a route, and still refuses hooks of another model", () => {
  // @ts-expect-error: a class has no name of a property to take its route from
  @rest({ methods: [all()] })
  class Routeless extends FrameworkModel {}
  // @ts-expect-error: hooks of films on actors
  @rest({ route: "/people", methods: [all({ preSend: forFilm })] })
  class Person extends FrameworkModel {
    @prop()
    name?: string;
  }
  // @ts-expect-error: the same beside options that a class alone has
  @rest({ route: "/people", methods: [all({ preSend: forFilm })], schemaOptions: {} })
  class Other extends FrameworkModel {
    @prop()
    name?: string;
  }
  @rest({ route: "/films", methods: [all({ preSend: forFilm })], scope: () => ({}) })
  class Movie extends FrameworkModel {
    @prop()
    title!: string;
    @prop({ type: Number })
    year?: number;
  }
  assertEquals([Routeless, Person, Other, Movie].map(({ length }) => length), [0, 0, 0, 0]);
});
