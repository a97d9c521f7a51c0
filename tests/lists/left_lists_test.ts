import { assertEquals } from "@std/assert";
import { stub } from "@std/testing/mock";
import type { ServerResponse } from "node:http";
import { all, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import { pass } from "../support/both_paths.ts";
import { test } from "../harness/testing.ts";
import { openGet, readSome } from "../support/sockets.ts";
import { mount } from "../support/support.ts";
import { until } from "../support/until.ts";

@rest({ route: "/plain", methods: [all()] })
@rest({ route: "/hooked", methods: [all({ preSend: pass })] })
@rest({ route: "/lean", methods: [all({ preSend: pass, lean: true })] })
@rest({ route: "/pages", methods: [all({ page: { size: 500, max: 500 } })] })
@rest({ route: "/hooked-pages", methods: [all({ page: { size: 500, max: 500 }, preSend: pass })] })
class Row extends FrameworkModel {
  @prop()
  text?: string;
}

for (const path of ["/plain", "/hooked", "/lean", "/pages", "/hooked-pages"]) {
  test(`nothing is logged when a client leaves in the middle of ${path}`, async () => {
    using warn = stub(console, "warn");
    using error = stub(console, "error");
    let closed = 0;
    await using app = await mount([Row], {
      prepare: (host) =>
        host.use((_req: unknown, res: ServerResponse, next: () => void) => {
          res.once("close", () => closed++);
          next();
        }),
    });
    const rows = Array.from({ length: 500 }, () => ({ text: "x".repeat(20_000) }));
    await getModel(Row).collection.insertMany(rows as never);
    for (let left = 3; left > 0; left--) {
      const socket = await openGet(`${app.url}${path}`);
      await readSome(socket);
      socket.close();
    }
    await until(() => closed === 3);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const logged = [...warn.calls, ...error.calls].map(({ args }) => String(args[0]));
    assertEquals(logged, []);
  });
}
