/**
 * Middleware for data providers of React-admin and Refine: `ra-data-simple-rest`, `ra-data-json-server` and
 * `@refinedev/simple-rest`. It translates their parameters, adds an `id` to entities, makes a `PATCH` of a `PUT`, gives
 * a `DELETE` a body, and makes a text of each entry of `errors`. Every list needs `page`, `count` and `sort`.
 *
 * @module
 */
import { parse } from "node:querystring";
import type { NextFunction, Request, Response } from "express";
import { RestError } from "@mongrove/mongrove";

function conditionOf([name, value]: [string, unknown]) {
  const [, field = name, operator = "in"] = /^(.+)_(ne|gte|lte|like)$/.exec(name) ?? [];
  const like = { $regex: `${value}`.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), $options: "i" };
  const given = { [`$${operator}`]: operator === "in" ? [value].flat() : value };
  return { [field === "id" ? "_id" : field]: operator === "like" ? like : given };
}

function translate(query: string) {
  const { sort, range, filter, _sort, _order, _start, _end, ...others } = parse(query);
  const [by = "id", order] = sort ? JSON.parse(`${sort}`) : [_sort, _order];
  const [from, to] = range ? JSON.parse(`${range}`) : [_start ?? 0, Number(_end ?? 1000) - 1];
  const { q, ...fields } = filter ? JSON.parse(`${filter}`) : others;
  const signs = `${order}`.split(",").map((each) => /desc/i.test(each) ? "-" : "");
  const keys = `${by}`.split(",").map((key, at) => signs[at] + (key === "id" ? "_id" : key));
  const page = { sort: `${keys}`, skip: from, limit: `${to - from + 1}`, ...q && { search: q } };
  const conditions = { $and: [{}, ...Object.entries(fields).map(conditionOf)] };
  return new URLSearchParams({ ...page, q: JSON.stringify(conditions) });
}

export function adminAdapter(req: Request, res: Response, next: NextFunction) {
  const [path = "", query] = req.url.split("?");
  try {
    if (query) req.url = `${path}?${translate(query)}`;
  } catch {
    throw new RestError(400, "The parameters are not valid");
  }
  if (req.method === "PUT") req.method = "PATCH";
  const end = res.end.bind(res);
  res.end = ((chunk = "") => {
    res.end = end;
    if (res.statusCode === 204) return res.status(200).json({ id: path.split("/").pop() });
    if (!`${res.get("content-type")}`.includes("json") || !`${chunk}`) return end(chunk);
    const body = JSON.parse(`${chunk}`, (_, each) => each?._id ? { id: each._id, ...each } : each);
    for (const name in body.errors) body.errors[name] = body.errors[name].message;
    return res.json(body);
  }) as typeof res.end;
  next();
}
