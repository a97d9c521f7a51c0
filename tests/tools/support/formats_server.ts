/**
 * Serves a list in all formats, over the database whose URI is its argument, and prints where it listens: its memory and
 * its time on the processor are those of nothing else.
 *
 * @module
 */
import mongoose from "mongoose";
import { all, Framework, FrameworkModel, prop, rest } from "../../../mod.ts";
import express from "express";
import { serve } from "../../harness/serve.ts";

class Place extends FrameworkModel {
  static override schemaOptions = { _id: false };
  @prop()
  city?: string;
  @prop({ type: Number })
  lat?: number;
}

const formats = ["ndjson", "csv"] as const;

@rest({ route: "/movies", methods: [all({ formats })] })
class Movie extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Number })
  year?: number;
  @prop()
  plot?: string;
  @prop({ type: Number })
  rating?: number;
  @prop({ type: Boolean })
  seen?: boolean;
  @prop({ type: Date })
  released?: Date;
  @prop({ type: Place })
  place?: Place;
}

await mongoose.connect(Deno.args[0] ?? "");
const served = await serve(express().use(Framework.initialize({ models: [Movie] })));
console.log(served.url);
