import process from "node:process";
import { logHint } from "../errors/log.ts";

/** The errors of JavaScript about a class whose module has not run, with the name of the class. */
const TOO_EARLY =
  /^(?:Cannot access '_*([\w$]+)' before initialization$|Class extends value undefined )/;

/** Marks the process as watched. The package may be evaluated many times, as after `vi.resetModules()`. */
const WATCHED = Symbol.for("mongrove.watched");

/**
 * Logs the cure of a circular import before the runtime shows its error. The error comes from a module of the
 * application, before it calls a function of the framework. The framework can therefore only watch the errors that end
 * the process.
 */
export function tellCircularImports(): void {
  if (Object.hasOwn(globalThis, WATCHED)) return;
  Object.defineProperty(globalThis, WATCHED, { value: true });
  process.on("uncaughtExceptionMonitor", (error: unknown) => {
    const found = TOO_EARLY.exec(error instanceof Error ? error.message : "");
    if (found === null) return;
    const [, name = "Model"] = found;
    logHint(
      `A circular import is the usual cause of the next error: a class is used before its module has run. ` +
        `Name a model by a function, () => ${name}, in "items", "type", "ref" and "of". ` +
        `The module of a base class must not import its subclasses.`,
    );
  });
}
