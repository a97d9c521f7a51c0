import express, { type Express } from "express";
import { Framework } from "@mongrove/mongrove";
import { openapi } from "@mongrove/mongrove/openapi";
import { Actor } from "../../../examples/movies/actor.ts";
import { Movie } from "../../../examples/movies/movie.ts";

/** Builds examples/movies with a document that writes `q` as a text. */
export function buildTextApp(): Express {
  const api = Framework.initialize({ models: [Movie, Actor] });
  const described = openapi(api, { info: { title: "Movies", version: "1" }, q: "string" });
  return express().use(express.json(), api, described, Framework.errors());
}
