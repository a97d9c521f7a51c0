import express from "express";
import { all, create, Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";
import { metrics } from "./metrics.ts";
import { continueTrace } from "./traces.ts";

@rest({ route: "/songs", open: true, methods: [all({ page: false }), create()] })
class Song extends FrameworkModel {
  @prop()
  title!: string;
}

export const app = express();
app.get("/metrics", metrics);
app.use(continueTrace);
app.use(express.json());
app.use(Framework.initialize({ models: [Song], strict: true }));
app.use(Framework.errors());
