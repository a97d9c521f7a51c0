import { assertEquals, assertThrows } from "@std/assert";
import {
  all,
  and,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  leaveOut,
  type ModelClass,
  one,
  prop,
  type Ref,
  remove,
  removeAll,
  rest,
  update,
} from "../../../mod.ts";
import { mountOnReplicaSet } from "../../support/mount_on_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { asQuery } from "../../support/support.ts";

const hasRole = (role: string) => (req: FrameworkRequest) =>
  String(req.headers["x-roles"]).split(" ").includes(role);

const isDoctor = { preFetch: hasRole("doctor") };
const isStaff = (req: FrameworkRequest) => hasRole("doctor")(req) || hasRole("admin")(req);
const see = (req: FrameworkRequest) => req.headers["x-roles"] !== undefined;

@rest({
  route: "/patients",
  methods: [
    all({ preFetch: isStaff }),
    one({ preFetch: isStaff }),
    create(isDoctor),
    update({
      ...isDoctor,
      postFetch: () => null,
      preSave: () => null,
      preSend: (_req, patient) => ({ name: patient.name }),
    }),
    remove(isDoctor),
  ],
  trash: { see, restore: and(hasRole("admin"), (req) => req.framework.operation === "restore") },
})
class Patient extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop()
  diagnosis?: string;
}

@rest({
  route: "/visits",
  methods: [one(), create(), update({ preFetch: () => false }), removeAll()],
  trash: { see, restore: () => false },
})
class Visit extends FrameworkModel {
  @prop({ ref: () => Patient, onDelete: "cascade" })
  patient?: Ref<Patient>;
}

const as = (...roles: string[]) => ({ headers: { "x-roles": roles.join(" ") } });

test("doctors write, and administrators restore", async () => {
  await using app = await mountOnReplicaSet([Patient, Visit]);
  const { _id } = await app.created("/patients", { name: "a", diagnosis: "b" }, as("doctor"));
  const visit = `/visits/${(await app.created("/visits", { patient: _id }))._id}`;
  const path = `/patients/${_id}`;
  assertEquals((await app.delete(path, as("admin"))).status, 403);
  assertEquals((await app.delete(path, as("doctor"))).status, 204);
  const restore = (options: object) => app.post(`${path}/restore`, undefined, options);
  const refused = [await restore({}), await restore(as("doctor")), await restore(as("nurse"))];
  assertEquals(refused.map(({ status }) => status), [403, 403, 403]);
  assertEquals((await app.get(visit)).status, 404);
  const { status, body } = await restore(as("admin"));
  assertEquals([status, body], [200, { name: "a" }]);
  assertEquals((await app.get(path, as("admin"))).status, 200);
  // The hook of the class whose entity is restored decides for the cascade, too
  assertEquals((await app.get(visit)).status, 200);
});

test("a hook for restore needs no update(), and does not take the place of `see`", async () => {
  await using app = await mountOnReplicaSet([Patient, Visit]);
  const { _id } = await app.created("/visits", {});
  await app.delete("/visits");
  const restore = (options = {}) => app.post(`/visits/${_id}/restore`, undefined, options);
  assertEquals((await restore(as("admin"))).status, 403);
  assertEquals((await restore()).status, 403);
});

test("with a hook for restore, removeAll() alone is enough for a restore", async () => {
  @rest({
    route: "/with",
    trash: { see, restore: hasRole("admin") },
    methods: [create(), removeAll()],
  })
  class With extends FrameworkModel {}
  @rest({ route: "/without", trash: { see }, methods: [create(), removeAll()] })
  class Without extends FrameworkModel {}
  await using app = await mountOnReplicaSet([With, Without]);
  for (const [route, status] of [["/with", 200], ["/without", 404]] as const) {
    const { _id } = await app.created(route, {});
    await app.delete(route);
    assertEquals(
      (await app.post(`${route}/${_id}/restore`, undefined, as("admin"))).status,
      status,
    );
  }
});

function modelWith(trash: object): ModelClass {
  @rest({ route: "/things", methods: [all(), remove()], trash } as never)
  class Thing extends FrameworkModel {}
  return Thing;
}

test("a hook for restore that cannot run fails the start", () => {
  for (
    const [options, problem] of [
      [{ see, restore: true }, '"trash.restore"'],
      [{ restore: () => true }, '"trash.restore" without "trash.see"'],
    ] as const
  ) {
    const start = () => Framework.initialize({ models: [modelWith(options)] });
    assertThrows(start, TypeError, problem);
  }
});

@rest({
  route: "/visitors",
  methods: [
    create(),
    update<Visitor>({
      filter: ["name"],
      parameters: ["reason"],
      preSend: leaveOut(["note"], ["name"], () => true),
    }),
    remove({ filter: ["name"] }),
  ],
  trash: { see: () => true },
})
class Visitor extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  note?: string;
}

test("a restore takes the filter and the parameters of update()", async () => {
  await using app = await mountOnReplicaSet([Visitor], { strict: { guards: false } });
  const { _id } = await app.created("/visitors", { name: "a", note: "n" });
  const path = `/visitors/${_id}`;
  await app.delete(path);
  const restore = async (query: string) => (await app.post(`${path}/restore${query}`)).status;
  assertEquals(await restore(asQuery({ note: "n" })), 400);
  assertEquals(await restore("?other=a"), 400);
  assertEquals(await restore(asQuery({ name: "b" })), 404);
  assertEquals(await restore(`${asQuery({ name: "a" })}&reason=b`), 200);
});
