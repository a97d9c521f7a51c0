import process from "node:process";
import { logHint } from "../errors/log.ts";

const TOO_EARLY =
  /^(?:Cannot access '_*([\w$]+)' before initialization$|Class extends value undefined )/;

const WATCHED = Symbol.for("mongrove.watched");

/** A module throws before it calls the framework, so only errors that end the process can be watched. */
export function explainCircularImports(): void {
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
