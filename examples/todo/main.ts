import process from "node:process";
import express from "express";
import mongoose from "mongoose";
import { Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";
import { all, create, one, remove, update } from "@mongrove/mongrove";

@rest({ route: "/todos", methods: [all(), one(), create(), update(), remove()] })
export class Todo extends FrameworkModel {
  @prop({ required: true, maxLength: 200 })
  text!: string;

  @prop({ default: false })
  done!: boolean;
}

await mongoose.connect(process.env.MONGODB_URI ?? "mongodb://127.0.0.1:27017/todos");

const app = express();
app.use(express.json());
app.use(Framework.initialize());
app.use(Framework.errors());
app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
