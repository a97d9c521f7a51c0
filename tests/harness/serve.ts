// The tests use what the package gives its users.
export { serve } from "../../src/testing/serve.ts";
export type { Served } from "../../src/testing/serve.ts";
