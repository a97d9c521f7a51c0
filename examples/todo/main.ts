import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import express from "express";
import mongoose from "mongoose";
import { Framework, FrameworkModel, type GuardRequest, prop, rest } from "@mongrove/mongrove";
import { all, create, one, remove, update } from "@mongrove/mongrove";

/** Readers need no key. */
const open = true;

@rest({
  route: "/todos",
  methods: [all({ open, page: { max: 100 } }), one({ open }), create(), update(), remove()],
})
export class Todo extends FrameworkModel {
  @prop({ required: true, maxLength: 200 })
  text!: string;

  @prop({ default: false })
  done!: boolean;
}

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/todos";
while (!await mongoose.connect(uri).catch(console.error)) await wait(1000);

const key = process.env.TODO_KEY;
const guard = ({ headers }: GuardRequest) => key !== undefined && headers.authorization === key;

const app = express();
app.use(express.json());
app.use(Framework.initialize({ strict: true, guard, log: true }));
app.use(Framework.errors({ notFound: true }));
const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
