import { arrayProp, FrameworkModel, prop } from "../../mod.ts";
import type { Types } from "mongoose";

export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2)
  ? true
  : false;

export function expect<_T extends true>(): void {}

/** Embedded by others. */
export class Address extends FrameworkModel {
  @prop({ required: true })
  street!: string;
}

/** Has a method. */
export class Actor extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @arrayProp({ items: () => Movie })
  movies?: string[];
  act(): string {
    return this.name;
  }
}

/** Has a static method. */
export class Movie extends FrameworkModel {
  @prop({ required: true })
  title!: string;
  @arrayProp({ items: Actor })
  actors?: Types.ObjectId[];
  static byTitle(title: string): string {
    return title;
  }
}
