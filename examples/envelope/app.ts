/**
 * Answers in envelopes, such as `{ "data": […], "total": 1 }`. Every list needs a `page`, because the middleware sees only
 * the end of another list.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import express from "express";
import { all, create, Framework, FrameworkModel, one, prop, rest } from "@mongrove/mongrove";

function envelope(_req: express.Request, res: express.Response, next: express.NextFunction) {
  const end = res.end.bind(res);
  res.end = ((chunk: string | Uint8Array = "") => {
    if (chunk.length === 0 || res.statusCode >= 300) return end(chunk);
    const total = res.get("x-total-count");
    const data = Buffer.from(chunk as string).toString();
    const text = total === undefined ? `{"data":${data}}` : `{"data":${data},"total":${total}}`;
    res.set("content-length", `${Buffer.byteLength(text)}`);
    return end(text);
  }) as typeof res.end;
  next();
}

@rest({
  route: "/books",
  open: true,
  methods: [all({ page: { max: 100 }, sort: ["title"], count: { always: true } }), one(), create()],
})
class Book extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ hidden: true })
  supplier?: string;
}

export const app = express();
app.use(express.json());
app.use("/books", envelope);
app.use(Framework.initialize({ models: [Book], strict: true }));
app.use(Framework.errors());
