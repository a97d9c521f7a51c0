import type { ModelClass } from "../../declare/model/framework_model.ts";
import type {
  ClassWriterOptions,
  TransactionRequest,
  TransactionWrite,
} from "../../pipeline/class_feature.ts";
import type { ClassWriter } from "../../pipeline/class_writer.ts";

/** `onDelete` has no effect on writes that no request has caused. */
export interface RequestWrite extends TransactionWrite {
  readonly request: TransactionRequest;
}

export function isOfRequest(write: TransactionWrite): write is RequestWrite {
  return write.request !== undefined;
}

interface WrittenClass extends Pick<ClassWriterOptions, "reach"> {
  readonly target: ModelClass;
  /** The operation in the history, by default the operation of the write. */
  readonly operation?: string;
}

export function classWriterFor(
  write: RequestWrite,
  { target, operation = write.operation, reach }: WrittenClass,
): Promise<ClassWriter> {
  return write.request.classWriter(write, { target, operation, reach });
}
