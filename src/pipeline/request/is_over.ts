import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";

/** Whether nobody waits for the pipeline's answer: a hook has ended the response, or the client has left. */
export function isOver({ res, socket }: FrameworkRequest): boolean {
  // A response that waits behind another one hears nothing of its connection: the socket tells.
  return res?.writableEnded === true || res?.destroyed === true || socket?.destroyed === true;
}
