/** A part of a date, in UTC: groups show `"2024"`, `"2024-03"` or `"2024-03-09"`. */
export type DateUnit = "year" | "month" | "day";

/**
 * What clients may group a list by, and what is told of each group.
 *
 * @typeParam N The names of the fields that hold one value.
 * @typeParam D The names of the fields that hold a date.
 * @typeParam S The names of the fields that can be summed up.
 * @typeParam A The names of the fields that have an average.
 *
 * @example Count tickets by state and month
 * ```ts
 * import { all, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 *
 * @rest({
 *   route: "/tickets",
 *   methods: [all({
 *     groups: { by: ["state", { openedAt: "month" }], count: true, sum: ["hours"] },
 *   })],
 * })
 * class Ticket extends FrameworkModel {
 *   @prop({ default: "open" })
 *   state!: string;
 *   @prop({ type: Date, default: Date.now })
 *   openedAt!: Date;
 *   @prop({ type: Number, default: 0 })
 *   hours!: number;
 * }
 * ```
 */
export interface GroupsOptions<
  N extends string = string,
  D extends string = string,
  S extends string = string,
  A extends string = string,
> {
  /** The fields of `?group=`: no lists and no objects. Dates may be grouped by a part of them. */
  readonly by: readonly (N | { readonly [K in D]?: DateUnit })[];
  /**
   * Whether each group tells how many entities it has.
   *
   * @default {false}
   */
  readonly count?: boolean;
  /** The numbers of `?sum=`. */
  readonly sum?: readonly S[];
  /** The numbers of `?avg=`. */
  readonly avg?: readonly A[];
  /**
   * The most groups of an answer. More are a 409.
   *
   * @default {1000}
   */
  readonly max?: number;
  /**
   * The fewest entities of a group that is shown.
   *
   * @default {1}
   */
  readonly least?: number;
}
