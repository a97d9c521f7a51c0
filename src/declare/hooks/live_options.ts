/**
 * Options of a live list.
 *
 * @example Tell what changes in short lists
 * ```ts
 * import { all, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 *
 * @rest({ route: "/messages", methods: [all({ live: { max: 500 } })] })
 * class Message extends FrameworkModel {
 *   @prop({ required: true })
 *   text!: string;
 * }
 * ```
 */
export interface LiveOptions {
  /**
   * The most entities that the list may have. A longer one answers 409, and ends when it grows.
   *
   * @default {10000}
   */
  readonly max?: number;
}
