import type { FrameworkRequest } from "@mongrove/mongrove";

const PAGE_SIZE = 20;

/** A `preFetch` hook: 20 entities a page, `?page=1` is the second page. What is no page is the first. */
export function paginate(req: FrameworkRequest): boolean {
  const page = Number(req.query.page);
  const skip = Number.isInteger(page) && page > 0 ? page * PAGE_SIZE : 0;
  req.framework.options.skip = Number.isSafeInteger(skip) ? skip : 0;
  req.framework.options.limit = PAGE_SIZE;
  return true;
}
