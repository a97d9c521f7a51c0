import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import type { PreFetch } from "../../declare/hooks/hooks.ts";
import type { KeepOption } from "../../declare/model/duration.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";

/** @internal Options of the trash of a class, from which removed entities can be restored. */
export interface TrashOptions<M extends FrameworkModel = FrameworkModel> extends KeepOption {
  /**
   * Whether the sender of a request may read, restore and finally remove entities in the trash. The function is called
   * at most once for each request, after the `preFetch` hooks. Without this option, nobody may.
   */
  readonly see?: (req: FrameworkRequest) => boolean;
  /**
   * A `preFetch` hook that decides, together with `see`, who may restore an entity, instead of the hooks `preFetch`,
   * `postFetch` and `preSave` of `update()`. By default, these hooks decide, or the same hooks of `remove()` if the
   * class has no `update()`.
   */
  readonly restore?: PreFetch<FrameworkRequest<M>>;
  /**
   * The name of the field that stores when an entity was put into the trash. The default is `"deletedAt"`.
   *
   * The field with the sender has `By` instead of `At`. A hidden field with `With` stores which entities the same
   * request has removed.
   */
  readonly field?: string;
}
