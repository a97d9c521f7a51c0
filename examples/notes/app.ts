/**
 * Notes that others see only if they are shared, and without the phone number of their owner.
 *
 * @module
 */
import express from "express";
import { all, create, Framework, FrameworkModel, leaveOut, onlyIf } from "@mongrove/mongrove";
import { type FrameworkRequest, prop, rest, update } from "@mongrove/mongrove";

const signedIn = (req: FrameworkRequest) => req.headers["x-user"] !== undefined;

const isOwn = (req: FrameworkRequest, note: Pick<Note, "owner">) =>
  note.owner === req.headers["x-user"];

const mayRead = onlyIf(
  ["shared", "owner"],
  (req: FrameworkRequest, note: Pick<Note, "shared" | "owner">) => note.shared || isOwn(req, note),
);

const withoutPhone = leaveOut(
  ["phone"],
  ["owner"],
  (req: FrameworkRequest, note: Pick<Note, "owner">) => !isOwn(req, note),
);

@rest({
  route: "/notes",
  methods: [
    all({
      page: { max: 100 },
      filter: ["title"],
      postFetch: mayRead,
      preSend: withoutPhone,
    }),
    create(),
    update({ postFetch: onlyIf(["owner"], isOwn) }),
  ],
})
class Note extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ required: true })
  owner!: string;

  @prop({ default: false })
  shared!: boolean;

  @prop()
  phone?: string;
}

export const app = express();
app.use(express.json());
app.use(Framework.initialize({ models: [Note], strict: true, guard: signedIn }));
app.use(Framework.errors());
