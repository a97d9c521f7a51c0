import type { ModelIn } from "../../declare/decorators/rest.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type {
  Affected,
  CreateManyOptions,
  CreateOptions,
  EntityResult,
  ListOptions,
  LiveCallOptions,
  OneOptions,
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
import type { ChangesOf, NewOf, PatchOf, ReplacementOf } from "./body.ts";
import type { FileName, FileResource, IsFile } from "./file.ts";
import type { Group, GroupName, GroupsCallOptions, NumberName } from "./groups.ts";
import type { HistoryPageOptions, HistoryRecord, ItemOptions } from "./history.ts";
import type { RemoveItemOptions, RemoveItemsOptions, RestoreOptions } from "./history.ts";
import type { Shown } from "./json.ts";
import type { Populate, PopulateName } from "./populate.ts";
import type { Answer, DateName, FieldName } from "./select.ts";

/**
 * The operations of a route whose entities form a list.
 */
export interface Resource<M> {
  /** Reads a page of the list. If the route has no pages, the page has all entities. */
  all<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(options?: ListOptions<M, S, P, R>): Promise<Page<Answer<M, S, P, R>>>;
  /** Reads the entities of all pages in their order. The loop throws if the links to next pages form a cycle. */
  each<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(options?: ListOptions<M, S, P, R>): AsyncGenerator<Answer<M, S, P, R>, void, undefined>;
  /**
   * Reads groups of the entities, such as the sum of prices for each year. The route must have `all({ groups: … })`.
   */
  groups<
    B extends GroupName<M> = never,
    S extends NumberName<M> = never,
    A extends NumberName<M> = never,
    P extends GroupName<M> & PopulateName<M> = never,
  >(options: GroupsCallOptions<M, B, S, A, P>): Promise<Group<M, B, S, A, P>[]>;
  /**
   * Yields the list, or a page of it, first and after each change. The route must have `all({ live: true })`. Each list
   * is a new array with the same object for an unchanged entity.
   *
   * The loop ends when `signal` is aborted, and throws if the server answers with a 4xx status or the first list cannot
   * be read. The client connects again after a lost connection.
   */
  live<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(options?: LiveCallOptions<M, S, P, R>): AsyncGenerator<Answer<M, S, P, R>[], void, undefined>;
  /** Reads an entity. With `known`, the server does not send an unchanged entity again. */
  one<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(
    id: string,
    options?: ItemOptions<M, S, P, R, Answer<M, S, P, R>>,
  ): Promise<Answer<M, S, P, R>>;
  /**
   * Creates an entity. The client repeats the request only if the resource has `idempotency: true`, because a
   * repetition could otherwise create a second entity.
   */
  create<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    body: NewOf<M>,
    options?: CreateOptions<R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /**
   * Creates several entities, or none if one is refused. The route must have `create({ many: … })`. The result has the
   * entities in the order of `bodies`, without entities that a hook hides. With `atomic: false`, the server creates
   * each entity independently.
   */
  createMany<
    const R extends readonly DateName<M>[] = never,
    N extends boolean = false,
    T extends false = never,
  >(
    bodies: readonly NewOf<M>[],
    options?: CreateManyOptions<R, N, T>,
  ): Promise<
    [T] extends [never] ? WriteResult<Answer<M, never, never, R>[], N, undefined> : EntityResult[]
  >;
  /**
   * Changes an entity by a merge patch. With `ifMatch`, `q` or `__v` in the body, the client does not repeat the
   * request, because the server could refuse a second attempt after a success.
   */
  update<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    id: string,
    body: PatchOf<M>,
    options?: UpdateOptions<M, R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /**
   * Applies a merge patch to all entities that a filter selects. The client never repeats the request, because the
   * first attempt may have changed fields that the filter names.
   */
  updateAll(body: ChangesOf<M>, options: UpdateAllOptions<M>): Promise<Affected>;
  /**
   * Replaces the entity with a key, or creates it. With `ifMatch`, `createOnly` or `__v` in the body, the client does
   * not repeat the request, as in `update()`.
   */
  replace<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    key: string,
    body: ReplacementOf<M>,
    options?: ReplaceOptions<R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /**
   * Removes an entity. The client never repeats the request, because a second attempt after a success would get a 404.
   */
  remove(id: string, options?: RemoveItemOptions<M>): Promise<void>;
  /**
   * Removes all entities that a filter selects. The client never repeats the request, because matching entities may
   * have been created after the first attempt.
   */
  removeAll(options: RemoveItemsOptions<M>): Promise<void>;
  /**
   * Reads the records of the writes of an entity, newest first, 20 or `limit` up to 100. The server must declare
   * `history` for the class.
   */
  history(id: string, options?: HistoryPageOptions): Promise<HistoryRecord<M>[]>;
  /**
   * Sets an entity back to a version, except fields that the caller may not set. The server must declare `history` and
   * `update()` for the class. The client never repeats the request, because each attempt makes a new version.
   */
  revert<const R extends readonly DateName<M>[] = never>(
    id: string,
    version: number,
    options?: RestoreOptions<R>,
  ): Promise<Answer<M, never, never, R>>;
  /**
   * Takes an entity out of the trash. The class must have `trash` with the function `see` on the server. The client
   * never repeats the request, as in `remove()`.
   */
  restore<const R extends readonly DateName<M>[] = never>(
    id: string,
    options?: RestoreOptions<R>,
  ): Promise<Answer<M, never, never, R>>;
  /**
   * Runs an action on an entity, as in `action<typeof close>("close", id, body, options)`, or without the identifier,
   * on all entities that `q` selects. The client repeats only a `GET`, because a second `POST` would run the action
   * again.
   */
  action<A extends AnyAction = AnyAction>(
    name: A["operation"],
    ...args: ActionArgs<M, A>
  ): Promise<ActionAnswer<M, A>>;
  /**
   * Returns the operations on the entities in a property of an entity. The path is the name of the property. A
   * sub-resource with another `route` needs `resource()` instead.
   */
  part<K extends PartName<M>>(name: K, id: string): PartOf<M, K>;
  /** Returns the operations on the file in a property of an entity. */
  file(name: FileName<M>, id: string): FileResource;
}

/**
 * The operations on a sub-resource whose property holds one entity. Except for `create()`, the client repeats the same
 * requests as for a {@linkcode Resource}.
 */
export interface Single<M> {
  /** Reads the entity. The call fails with a 404 if the property has none. */
  one<
    const S extends readonly FieldName<M>[] = never,
    const P extends Populate<M> = never,
    const R extends readonly DateName<M>[] = never,
  >(options?: OneOptions<M, S, P, R, Answer<M, S, P, R>>): Promise<Answer<M, S, P, R>>;
  /** Creates the entity. The client never repeats the request, because `part()` sends no idempotency key. */
  create<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    body: NewOf<M>,
    options?: CreateOptions<R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /** Changes the entity by a merge patch. */
  update<const R extends readonly DateName<M>[] = never, N extends boolean = false>(
    body: PatchOf<M>,
    options?: UpdateOptions<M, R, N>,
  ): Promise<WriteResult<Answer<M, never, never, R>, N>>;
  /** Removes the entity. */
  remove(options?: RemoveOptions<M>): Promise<void>;
  /** Runs an action on the entity. */
  action<A extends AnyAction = AnyAction>(
    name: EntityActionName<A>,
    ...args: EntityActionArgs<M, A>
  ): Promise<ActionAnswer<M, A>>;
  /** Returns the operations on the entities in a property of the entity. */
  part<K extends PartName<M>>(name: K): PartOf<M, K>;
  /** Returns the operations on the file in a property of the entity. */
  file(name: FileName<M>): FileResource;
}

/** @internal The names of the properties with embedded entities or `Ref`s, which can be sub-resources. */
export type PartName<M> =
  & {
    [K in keyof M]-?: Shown<M, K> extends never ? never
      : unknown extends ModelIn<NonNullable<M[K]>> ? never
      : IsFile<NonNullable<M[K]>> extends true ? never
      : K;
  }[keyof M]
  & string;

/** @internal */
export type PartOf<M, K extends keyof M> = NonNullable<M[K]> extends infer V
  ? V extends readonly unknown[] ? Resource<PartModel<V>> : Single<PartModel<V>>
  : never;

/** @internal The model of a sub-resource. Embedded entities have no version. */
export type PartModel<V> = ModelIn<V> extends infer T
  ? [V extends readonly (infer I)[] ? I : V] extends [FrameworkModel] ? Omit<T, "__v"> : T
  : never;
