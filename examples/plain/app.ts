import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import express from "express";
import mongoose from "mongoose";
import { all, create, define, Framework, FrameworkModel } from "@mongrove/mongrove";
import { one, remove, update } from "@mongrove/mongrove";

export class Todo extends FrameworkModel {
  text!: string;
  done!: boolean;
}
define(Todo, {
  fields: {
    text: { required: true, maxLength: 200 },
    done: { default: false },
  },
  rest: {
    route: "/todos",
    open: true,
    methods: [all({ page: { max: 100 } }), one(), create(), update(), remove()],
  },
});

const uri = process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/todos";
while (!await mongoose.connect(uri).catch(console.error)) await wait(1000);

const app = express();
app.use(express.json());
app.use(Framework.initialize({ strict: true }));
app.use(Framework.errors({ notFound: true }));
const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
