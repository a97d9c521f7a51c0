import express from "express";
import { all, create, one, remove, update } from "@mongrove/mongrove";
import { Framework, FrameworkModel, prop, type Ref, rest } from "@mongrove/mongrove";
import { adminAdapter } from "./admin_adapter.ts";

const page = { size: 25, max: 1000 }; // an export of React-admin asks for 1,000
const count = { always: true } as const;
const others = [one(), create(), update(), remove()];

@rest({
  route: "/films",
  open: true,
  methods: [all({ page, count, sort: ["title", "year"], search: ["title"] }), ...others],
})
class Film extends FrameworkModel {
  @prop({ required: true })
  title!: string;

  @prop({ type: Number, min: 1888 })
  year?: number;
}

@rest({
  route: "/reviews",
  open: true,
  methods: [all({ page, count, sort: ["stars"] }), ...others],
})
class Review extends FrameworkModel {
  @prop({ ref: () => Film, required: true, index: true })
  film!: Ref<Film>;

  @prop({ type: Number, required: true })
  stars!: number;
}

export const app = express();
// A form sends back the `id` that the adapter has added.
app.use(express.json({ reviver: (name, value) => name === "id" ? undefined : value }));
const api = Framework.initialize({ models: [Film, Review], strict: true });
app.use("/admin", adminAdapter, api);
app.use(Framework.errors());
