import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { JoinedPlace, JoinedRequest, TogetherWrite } from "../../pipeline/class_feature.ts";
import type { JoinedClass } from "../../pipeline/joined_class.ts";

/** A write that a request has caused, unlike a removal of expired entities. */
export interface RequestWrite extends TogetherWrite {
  readonly request: JoinedRequest;
}

export function isOfRequest(write: TogetherWrite): write is RequestWrite {
  return write.request !== undefined;
}

interface Opened extends Pick<JoinedPlace, "reach"> {
  readonly target: ModelClass;
  /** The name of the operation of the further writes. By default, it is the operation of the first write. */
  readonly operation?: string;
}

/** Returns a class whose entities can be written in the transaction of a write. */
export function openClass(
  write: RequestWrite,
  { target, operation = write.operation, reach }: Opened,
): Promise<JoinedClass> {
  return write.request.open(write, { target, operation, reach });
}
