import type { Document } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

interface Middleware {
  execPre(name: string, doc: Document, args: unknown[]): Promise<unknown>;
  execPost(name: string, doc: Document, args: unknown[], options?: object): Promise<unknown>;
}

function middlewareOf(doc: Document): Middleware {
  return (doc as unknown as { $__middleware: Middleware }).$__middleware;
}

/** Does what Mongoose's `save` does, but for the write: validation first, then the middleware around it. */
export async function saveBy(doc: Document, write: () => Promise<void>): Promise<void> {
  const middleware = middlewareOf(doc);
  try {
    await doc.validate();
    await middleware.execPre("save", doc, [{}]);
    await write();
  } catch (error) {
    await middleware.execPost("save", doc, [doc], { error });
    throw error;
  }
  await middleware.execPost("save", doc, [doc]);
}

/** How the middleware of a document runs: none of the user's may be skipped. */
export const SAVE_MIDDLEWARE: Knowledge = {
  name: "middleware of documents",
  holds({ doc }) {
    const { execPre, execPost } = middlewareOf(doc);
    return typeof execPre === "function" && typeof execPost === "function";
  },
};
