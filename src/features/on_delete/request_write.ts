import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { JoinedPlace, JoinedRequest, TogetherWrite } from "../../pipeline/class_feature.ts";
import type { JoinedClass } from "../../pipeline/joined_class.ts";

/**
 * A write that a request has caused. The option `onDelete` has no effect on other writes, such as a removal of expired
 * entities.
 */
export interface RequestWrite extends TogetherWrite {
  readonly request: JoinedRequest;
}

export function isOfRequest(write: TogetherWrite): write is RequestWrite {
  return write.request !== undefined;
}

interface Opened extends Pick<JoinedPlace, "reach"> {
  readonly target: ModelClass;
  /**
   * The name of the operation in the history of the entities that are written because of another write, such as
   * `cascade`. The default is the operation of this other write.
   */
  readonly operation?: string;
}

/**
 * Opens a class for further writes in the transaction of a write, such as for the removal of entities that refer to a
 * removed entity.
 */
export function openClass(
  write: RequestWrite,
  { target, operation = write.operation, reach }: Opened,
): Promise<JoinedClass> {
  return write.request.open(write, { target, operation, reach });
}
