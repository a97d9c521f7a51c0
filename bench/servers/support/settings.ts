import process from "node:process";

/** The database to serve, as a connection string. */
export function databaseUri(): string {
  const uri = process.env.MONGODB_URI;
  if (uri === undefined) throw new Error("Cannot serve: MONGODB_URI is not set");
  return uri;
}

/** As much as a body of many entities has. */
export const LARGEST_BODY = "2mb";

/** How many models to register, in place of those that are measured; 0 for those. */
export function modelCount(): number {
  return Number(process.env.BENCH_MODELS ?? 0);
}
