import { isDeepStrictEqual } from "node:util";
import { assert, assertEquals } from "@std/assert";
import type { ServedRoles } from "./serve_roles.ts";
import { type Ask, type Doc, holdsFor, type Role, ROLES, type World } from "./roles_world.ts";
import type { ClassSpec } from "./roles_world.ts";

interface ShownRecord {
  readonly version: number;
  readonly operation: string;
  readonly changed: readonly string[];
  readonly before: Doc;
}

/** How much was judged. */
export interface Judged {
  records: number;
  values: number;
  reverts: number;
}

interface HistoryWorld {
  readonly world: World;
  readonly judged: Judged;
}

/** An entity as each role has read it at each version. */
type Versions = Map<number, Readonly<Record<Role, Doc>>>;

/** Compares the records that a role reads with the answers that the role had at each version. */
export class HistoryJudge {
  readonly #app: ServedRoles;
  readonly #world: World;
  readonly #judged: Judged;
  readonly #key: string;
  /** The versions of the entities in their present life, by identifier. */
  readonly #versions = new Map<string, Versions>();

  constructor(app: ServedRoles, { world, judged }: HistoryWorld) {
    this.#app = app;
    this.#world = world;
    this.#judged = judged;
    this.#key = String(world.schemaOptions.versionKey ?? "__v");
  }

  /** Sends a request, and keeps the versions that it has made. */
  async send(ask: Ask): Promise<void> {
    const { role, method, path, query, body, headers } = ask;
    const isRevert = path.endsWith("/revert");
    const [, id = ""] = /^\/\w+\/(\w+)\/revert$/.exec(path) ?? [];
    const before = isRevert ? await this.#stored() : new Map<string, Doc>();
    const reply = await this.#ask(role, path, { method, query, body, headers });
    if (reply.status >= 300) return;
    await this.keepVersions();
    if (isRevert) {
      const { version } = body as { readonly version: number };
      await this.#judgeRevert(id, { role, version, before: before.get(id) ?? {} });
    }
  }

  /** Reads the entities that have another version than before, as each role. */
  async keepVersions(): Promise<void> {
    const stored = await this.#stored();
    for (const id of this.#versions.keys()) if (!stored.has(id)) this.#versions.delete(id);
    for (const [id, doc] of stored) {
      const version = Number(doc[this.#key] ?? 0);
      const known = this.#versions.get(id) ?? new Map();
      this.#versions.set(id, known);
      if (known.has(version)) continue;
      const read = async (role: Role) => [role, await this.#read(role, `/fast/${id}`)] as const;
      known.set(version, Object.fromEntries(await Promise.all(ROLES.map(read))));
    }
  }

  /** Compares the records of each entity, as each role reads them, with what the role has read. */
  async judgeRecords(): Promise<void> {
    for (const [id, versions] of this.#versions) {
      for (const role of ROLES) {
        const path = `/fast/${id}/history?limit=100`;
        const list = await this.#read(role, path) as unknown as ShownRecord[];
        for (const record of list) {
          const then = versions.get(record.version - 1)?.[role];
          const now = versions.get(record.version)?.[role];
          if (then !== undefined && now !== undefined) this.#judgeRecord(record, { then, now });
        }
      }
    }
  }

  #judgeRecord(
    { version, changed, before, operation }: ShownRecord,
    { then, now }: { readonly then: Doc; readonly now: Doc },
  ): void {
    this.#judged.records++;
    const told = `version ${version} by ${operation}`;
    for (const [name, value] of Object.entries(before)) {
      this.#judged.values++;
      assertEquals(value, then[name], `${name} before ${told}`);
      assert(changed.includes(name), `${name} before ${told} is not named`);
    }
    for (const name of changed) {
      assert(Object.hasOwn(then, name) || Object.hasOwn(now, name), `${name} of ${told} is named`);
    }
    const others = new Set([this.#key, "updatedAt", "nick"]);
    for (const name of new Set([...Object.keys(then), ...Object.keys(now)])) {
      if (others.has(name) || isDeepStrictEqual(then[name], now[name])) continue;
      assert(
        changed.includes(name),
        `${name} of ${told} has changed: ${Deno.inspect([then[name], now[name]], { depth: 9 })}`,
      );
    }
  }

  /** Compares an entity with the version to which a role has set it back. */
  async #judgeRevert(
    id: string,
    { role, version, before }: {
      readonly role: Role;
      readonly version: number;
      readonly before: Doc;
    },
  ): Promise<void> {
    const earlier = this.#versions.get(id)?.get(version)?.[role];
    const now = await this.#read(role, `/fast/${id}`);
    const after = (await this.#stored()).get(id) ?? {};
    for (const [name, field] of Object.entries(this.#world.root.fields)) {
      const isFixed = holdsFor(field.hidden, role) || holdsFor(field.readonly, role) ||
        field.options?.select === false || field.options?.apart === true;
      if (isFixed) {
        assertEquals(after[name], before[name], `${name}, which ${role} cannot set`);
      } else if (earlier !== undefined && !hasFixed(field.of, role)) {
        this.#judged.reverts++;
        assertEquals(now[name], earlier[name], `${name} of version ${version} for ${role}`);
      }
    }
  }

  async #stored(): Promise<Map<string, Doc>> {
    const { roots } = JSON.parse(await this.#app.stored()) as { readonly roots: readonly Doc[] };
    return new Map(roots.map((doc) => [(doc._id as { $oid: string }).$oid, doc]));
  }

  async #read(role: Role, path: string): Promise<Doc> {
    const { status, text, body } = await this.#ask(role, path, { method: "GET" });
    assertEquals(status, 200, `${role} reads ${path}: ${text}`);
    return body as Doc;
  }

  #ask(
    role: Role,
    path: string,
    { method, query = {}, body, headers }: Partial<Ask> & Pick<Ask, "method">,
  ) {
    const search = new URLSearchParams(query).toString();
    return this.#app.send(method, `${path}${search && "?"}${search}`, {
      ...body !== undefined && { body },
      headers: { ...headers, "x-role": role, "x-view": "functions" },
    });
  }
}

/** Whether a class has fields at any depth that a role sees and cannot set. */
function hasFixed(spec: ClassSpec | undefined, role: Role): boolean {
  return spec !== undefined &&
    Object.values(spec.fields).some((field) =>
      holdsFor(field.readonly, role) || hasFixed(field.of, role)
    );
}
