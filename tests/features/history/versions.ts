import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { records, type Stored, storedPlans } from "./plans.ts";

/** The values of a plan that records contain, which are those that some reader may see. */
function recordable(stored: Stored): Record<string, unknown> {
  const { secret: _secret, password: _password, apartSteps: _apart, __v: _version, ...values } =
    stored;
  const withoutToken = (step: unknown) => {
    const { token: _token, ...others } = Object(step);
    return others;
  };
  return {
    ...values,
    ...Array.isArray(values.steps) && { steps: values.steps.map(withoutToken) },
    ...values.last !== undefined && { last: withoutToken(values.last) },
  };
}

/** Every version of every plan that was stored, with which the records are compared. */
export class Versions {
  readonly #versions = new Map<string, Map<number, Stored>>();

  /** Keeps the versions that are stored now. */
  async keep(): Promise<void> {
    for (const plan of await storedPlans()) {
      const id = String(plan._id);
      const own = this.#versions.get(id) ?? new Map<number, Stored>();
      this.#versions.set(id, own.set(plan.__v ?? 0, plan));
    }
  }

  /**
   * Goes through the records of each plan backwards, and compares each version with the kept one. Returns how many
   * versions were compared.
   */
  async judge(): Promise<number> {
    const now = new Map((await storedPlans()).map((plan) => [String(plan._id), plan]));
    let judged = 0;
    for (const [id, versions] of this.#versions) {
      const stored = now.get(id);
      let values = stored && recordable(stored);
      const own = await records({ entity: new mongoose.Types.ObjectId(id) });
      for (const { version, before, changed } of own.reverse()) {
        const kept = versions.get(version);
        if (kept !== undefined) {
          assertEquals(values, recordable(kept), `version ${version} of ${id}`);
          judged++;
        }
        const others = Object.entries(values ?? {}).filter(([name]) => !changed.includes(name));
        values = { ...Object.fromEntries(others), ...before };
      }
    }
    return judged;
  }
}
