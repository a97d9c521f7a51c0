import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { JoinedPlace, JoinedRequest, TogetherWrite } from "../../pipeline/class_feature.ts";
import type { JoinedClass } from "../../pipeline/joined_class.ts";

/** `onDelete` has no effect on writes that no request has caused. */
export interface RequestWrite extends TogetherWrite {
  readonly request: JoinedRequest;
}

export function isOfRequest(write: TogetherWrite): write is RequestWrite {
  return write.request !== undefined;
}

interface Opened extends Pick<JoinedPlace, "reach"> {
  readonly target: ModelClass;
  /** In the history. The default is the operation of the write. */
  readonly operation?: string;
}

export function openClass(
  write: RequestWrite,
  { target, operation = write.operation, reach }: Opened,
): Promise<JoinedClass> {
  return write.request.open(write, { target, operation, reach });
}
