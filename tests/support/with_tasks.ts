import { assert } from "@std/assert";

/** Returns the `app.ts` of `new --login` with the models of docs/tracker.md. */
export function withTasks(code: string): string {
  const imported = 'import { Todo } from "./todo.ts";\n';
  assert(code.includes(imported) && code.includes("[Todo, "));
  const own = 'import { Project } from "./project.ts";\nimport { Task } from "./task.ts";\n';
  return code.replace(imported, own).replace("[Todo, ", "[Project, Task, ");
}
