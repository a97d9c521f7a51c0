// Runs alone: it mounts every model that is registered.
import { assertEquals, assertThrows } from "@std/assert";
import { all, define, Framework, FrameworkModel } from "../../mod.ts";

class Early extends FrameworkModel {
  name?: string;
}
define(Early, { fields: { name: {} }, rest: { route: "/early", methods: [all()] } });

Deno.test("define() refuses a route that initialize() would have mounted before, and says the cure", () => {
  assertEquals(Framework.describe().map(({ path }) => path), ["/early"]);
  class Described extends FrameworkModel {}
  define(Described, { fields: {}, rest: { route: "/described", methods: [all()] } });
  const router = Framework.initialize();
  assertEquals(router.describe().map(({ path }) => path), ["/early", "/described"]);
  class Late extends FrameworkModel {}
  const error = assertThrows(
    () => define(Late, { fields: {}, rest: { route: "/late", methods: [all()] } }),
    TypeError,
  );
  assertEquals(
    error.message,
    'Cannot define "Late": Framework.initialize() has mounted the models already: import the model before',
  );
  define(Late, { fields: {} });
});
