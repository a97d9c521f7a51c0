import type { ModelIn } from "../../declare/decorators/rest.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type {
  Affected,
  CreateManyOptions,
  CreateOptions,
  Fate,
  ListOptions,
  LiveOptions,
  OneOptions,
  RemoveAllOptions,
  RemoveOptions,
  ReplaceOptions,
  UpdateAllOptions,
  UpdateOptions,
  WriteResult,
} from "./options.ts";
import type { Page } from "../operations/pages.ts";
import type {
  ActionAnswer,
  ActionArgs,
  AnyAction,
  EntityActionArgs,
  EntityActionName,
} from "./action.ts";
import type { NewOf, PatchOf } from "./body.ts";
import type { Group, GroupName, GroupOptions, NumberName } from "./groups.ts";
import type { Shown } from "./json.ts";
import type { Populate } from "./populate.ts";
import type { Answer, DateName, FieldName } from "./select.ts";

/**
 * The operations on a list of entities.
 *
 * @typeParam M The model.
 */
export interface Resource<M> {
  /** Reads a page of the list, or all of a list without pages. */
  all<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(options?: ListOptions<M, S, P, R>): Promise<Page<Answer<M, S, P, R>>>;
  /** Reads the entities of all pages, one after the other. It fails if the link to a page comes again. */
  each<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(options?: ListOptions<M, S, P, R>): AsyncGenerator<Answer<M, S, P, R>, void, undefined>;
  /** Reads groups of the entities of the list. The route must have `all({ groups: … })`. */
  groups<
    B extends GroupName<M> = never,
    S extends NumberName<M> = never,
    A extends NumberName<M> = never,
  >(options: GroupOptions<M, B, S, A>): Promise<Group<M, B, S, A>[]>;
  /**
   * Reads the list, or a page of it, and again whenever it changes, until the loop ends or `signal` comes. The route must
   * have `all({ live: true })`. It connects again by itself, and fails if the server refuses, or if there is no first list.
   * Each list is a new array; entities that have not changed are the same objects as before.
   */
  live<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(options?: LiveOptions<M, S, P, R>): AsyncGenerator<Answer<M, S, P, R>[], void, undefined>;
  /** Reads an entity. */
  one<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(
    id: string,
    options?: OneOptions<M, S, P, R, Answer<M, S, P, R>>,
  ): Promise<Answer<M, S, P, R>>;
  /** Creates an entity. It is repeated only by a resource with `idempotency: true`. */
  create<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    body: NewOf<M>,
    options?: CreateOptions<R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /**
   * Creates entities, all or none. They come back in their order, but for those that a hook of the server hides. The route
   * must have `create({ many: … })`.
   */
  createMany<
    const R extends readonly DateName<M>[] = never,
    N extends boolean = false,
    T extends false = never,
  >(
    bodies: readonly NewOf<M>[],
    options?: CreateManyOptions<R, N, T>,
  ): Promise<
    [T] extends [never] ? WriteResult<Answer<M, never, never, R>[], N, undefined> : Fate[]
  >;
  /** Changes an entity by a merge patch. It is repeated after a 503 if it has neither `ifMatch` nor `q`. */
  update<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    id: string,
    body: PatchOf<M>,
    options?: UpdateOptions<M, R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /** Changes all entities that a filter selects by a merge patch. It is never repeated. */
  updateAll(body: PatchOf<M>, options: UpdateAllOptions<M>): Promise<Affected>;
  /**
   * Puts an entity at a key, in the place of what is there. It is repeated after a 503 if it has neither `ifMatch` nor
   * `createOnly`.
   */
  replace<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    key: string,
    body: NewOf<M>,
    options?: ReplaceOptions<R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /** Removes an entity. */
  remove(id: string, options?: RemoveOptions<M>): Promise<void>;
  /** Removes all entities that a filter selects. */
  removeAll(options: RemoveAllOptions<M>): Promise<void>;
  /**
   * Runs an action: `action<typeof close>("close", id, body, options)` on an entity, and without the identifier on all that
   * `q` selects. It is repeated only if its method is `"GET"`.
   */
  action<A extends AnyAction = AnyAction>(
    name: A["operation"],
    ...args: ActionArgs<M, A>
  ): Promise<ActionAnswer<M, A>>;
  /** Returns the sub-resource of an entity that has the name of a property. */
  part<K extends PartName<M>>(name: K, id: string): PartOf<M, K>;
}

/**
 * The operations on the one entity that a property holds.
 *
 * @typeParam M The model.
 */
export interface Single<M> {
  /** Reads the entity. */
  one<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(options?: OneOptions<M, S, P, R, Answer<M, S, P, R>>): Promise<Answer<M, S, P, R>>;
  /** Creates the entity. It is never repeated. */
  create<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    body: NewOf<M>,
    options?: CreateOptions<R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /** Changes the entity by a merge patch. It is repeated after a 503 if it has neither `ifMatch` nor `q`. */
  update<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    body: PatchOf<M>,
    options?: UpdateOptions<M, R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /** Removes the entity. */
  remove(options?: RemoveOptions<M>): Promise<void>;
  /** Runs an action on the entity. It is repeated only if its method is `"GET"`. */
  action<A extends AnyAction = AnyAction>(
    name: EntityActionName<A>,
    ...args: EntityActionArgs<M, A>
  ): Promise<ActionAnswer<M, A>>;
  /** Returns the sub-resource of the entity that has the name of a property. */
  part<K extends PartName<M>>(name: K): PartOf<M, K>;
}

/**
 * The names of the properties that hold entities, or references whose type is a `Ref`.
 *
 * @typeParam M The model.
 */
export type PartName<M> =
  & {
    [K in keyof M]-?: Shown<M, K> extends never ? never
      : unknown extends ModelIn<NonNullable<M[K]>> ? never
      : K;
  }[keyof M]
  & string;

/**
 * The sub-resource of a property: a {@linkcode Resource} of a list, else a {@linkcode Single}.
 *
 * @typeParam M The model.
 * @typeParam K The name of the property.
 */
export type PartOf<M, K extends keyof M> = NonNullable<M[K]> extends infer V
  ? V extends readonly unknown[] ? Resource<PartModel<V>> : Single<PartModel<V>>
  : never;

/** @internal The model of a property. What is embedded has no version of its own. */
export type PartModel<V> = ModelIn<V> extends infer T
  ? [V extends readonly (infer I)[] ? I : V] extends [FrameworkModel] ? Omit<T, "__v"> : T
  : never;
