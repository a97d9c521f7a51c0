import process from "node:process";
import { Framework } from "@mongrove/mongrove";
import mongoose from "mongoose";
import { app } from "./app.ts";

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
const stop = () => Framework.close(server).then(() => mongoose.disconnect());
process.once("SIGINT", stop).once("SIGTERM", stop);
