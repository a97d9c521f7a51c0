import fc from "fast-check";
import {
  idOf,
  ids,
  PARTS,
  root,
  schemaOptions,
  target,
  TARGETS,
  type Trial,
  values,
} from "./arbitrary_roles.ts";
import { type Ask, type ClassSpec, type Doc, ROLES, type World } from "./roles_world.ts";

/** How many roots are written, so that each of them gets many versions. */
const ROOTS = 3;

/** What the hooks of a world do that shows entities as they are. */
const PLAIN = { shown: "itself", postFetch: false, preSave: false, persist: false } as const;

/** An object that is stored: only what fits. */
function docs(spec: ClassSpec): fc.Arbitrary<Doc> {
  const fields = Object.entries(spec.fields).filter(([name]) => !["code", "owner"].includes(name))
    .map(([name, field]) => [name, values(field, { objects: docs })] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [], noNullPrototype: true });
}

function stored(
  spec: ClassSpec,
  { from, count }: { readonly from: number; readonly count: number },
) {
  const each = (place: number) =>
    docs(spec).map((doc): Doc => {
      return { ...doc, _id: idOf(from + place), name: `n${place}`, owner: "tenant-a" };
    });
  return fc.tuple(...Array.from({ length: count }, (_, place) => each(place)));
}

/** Bodies of a few fields, with values that fit or that clear a field. */
function bodies(spec: ClassSpec): fc.Arbitrary<Doc> {
  const pairs = Object.entries(spec.fields).filter(([name]) => name !== "owner").map(
    ([name, field]) =>
      fc.tuple(
        fc.constant(name),
        fc.oneof(
          { weight: 6, arbitrary: values(field, { written: true, objects: bodies }) },
          fc.constant(null),
        ),
      ),
  );
  return fc.array(fc.oneof(...pairs), { minLength: 1, maxLength: 3 })
    .map((list) => Object.fromEntries(list));
}

type Way = Pick<Ask, "method" | "path" | "body">;

/** Writes of a root, of its parts and references, and reverts. */
function ways({ root }: Pick<World, "root">): fc.Arbitrary<Way> {
  const via = fc.constantFrom("fast", "slow");
  const path = fc.tuple(via, ids(0, ROOTS)).map(([hooks, id]) => `/${hooks}/${id}`);
  const change: fc.Arbitrary<Way> = fc.record({
    method: fc.constant("PATCH"),
    path,
    body: bodies(root),
  });
  const revert: fc.Arbitrary<Way> = fc.tuple(path, fc.nat(9)).map(([each, version]) => {
    return { method: "POST", path: `${each}/revert`, body: { version } };
  });
  const parts = Object.entries(root.fields).filter(([, { routed }]) => routed);
  const ofParts = parts.map(([name, { of, kind }]): fc.Arbitrary<Way> =>
    fc.record({
      at: fc.tuple(path, via).map(([each, hooks]) => `${each}/${hooks}-${name}`),
      id: ids(of === undefined ? TARGETS : PARTS, 3).map((id) =>
        kind.endsWith("s") ? `/${id}` : ""
      ),
      method: fc.constantFrom("POST", "PATCH", "DELETE"),
      body: of === undefined ? fc.constant({ name: "new" }) : bodies(of),
    }).map(({ at, id, method, body }): Way => method === "POST"
      ? { method, path: at, body }
      : { method, path: at + id, ...method === "PATCH" && { body } }
    )
  );
  return fc.oneof(
    { weight: 6, arbitrary: change },
    { weight: 2, arbitrary: revert },
    ...ofParts,
  );
}

/** Worlds whose writes are recorded, and writes of any role. */
export const histories: fc.Arbitrary<Trial> = fc.record({ root, target, schemaOptions }).chain(
  (given) => {
    const { toJSON: _toJSON, ...options } = given.schemaOptions;
    const world = fc.record({
      roots: stored(given.root, { from: 0, count: ROOTS }),
      targets: stored(given.target, { from: TARGETS, count: 4 }),
    }).map((data): World => ({
      ...{ ...given, ...data, schemaOptions: options, hooks: PLAIN, history: true },
      ...{ scoped: false, plugged: false, filtered: false, populated: "some" },
    }));
    const ask = fc.tuple(ways(given), fc.constantFrom(...ROLES)).map(([way, role]): Ask => ({
      ...{ ...way, role, query: {}, headers: {}, follows: false },
    }));
    return fc.record({ world, asks: fc.array(ask, { minLength: 40, maxLength: 60 }) })
      .map((trial) => ({ ...trial, [fc.toStringMethod]: () => "a trial" }));
  },
);
