/// <reference lib="dom" />
import { createCollection } from "@tanstack/db";
import { ApiError, connect } from "@mongrove/mongrove/client";
import { collectionOptions, type Row, temporaryId } from "@mongrove/mongrove/tanstack";
import type { Todo } from "./todo.ts";

const resource = connect("/api").resource<Todo>("/todos", { idempotency: true });
const todos = createCollection(collectionOptions(resource, { live: true }));

/** The text of an error for its field. */
function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.errors.text?.message ?? error.message;
  return error instanceof Error ? error.message : "";
}

function find<K extends keyof HTMLElementTagNameMap>(
  within: ParentNode,
  name: K,
): HTMLElementTagNameMap[K] {
  const element = within.querySelector(name);
  if (element === null) throw new Error(`The page has no ${name}`);
  return element;
}

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(name), properties);
}

const lines = new Map<string, HTMLLIElement>();
/** The errors of the latest changes, which the server has refused. */
const problems = new Map<string, string>();

function addLine(key: string): HTMLLIElement {
  const follow = ({ isPersisted }: ReturnType<typeof todos.delete>) => {
    problems.delete(key);
    isPersisted.promise.catch((error) => problems.set(key, messageOf(error))).then(show);
  };
  const done = make("input", { type: "checkbox", ariaLabel: "Done" });
  done.onchange = () => follow(todos.update(key, (draft) => void (draft.done = done.checked)));
  const text = make("input", { name: "text", ariaLabel: "Todo" });
  text.onchange = () => follow(todos.update(key, (draft) => void (draft.text = text.value)));
  const remove = make("button", { textContent: "Remove" });
  remove.onclick = () => follow(todos.delete(key));
  const line = make("li");
  line.append(done, text, " ", remove, " ", make("output"));
  lines.set(key, line);
  return line;
}

/** A text that the user is typing stays. */
function fillLine(line: HTMLLIElement, { _id, done, text }: Row<Todo>): void {
  const [box, input] = line.querySelectorAll("input");
  if (!box || !input) return;
  box.checked = done;
  if (input.value === input.defaultValue) input.value = text;
  input.defaultValue = text;
  find(line, "output").textContent = problems.get(_id) ?? "";
}

/** Identifiers grow with time, and temporary identifiers come last. */
function show(): void {
  const rows = todos.toArray.sort((a, b) => a._id < b._id ? -1 : 1);
  for (const [key, line] of lines) if (!todos.has(key) && lines.delete(key)) line.remove();
  const list = find(document, "ul");
  for (const [index, todo] of rows.entries()) {
    const line = lines.get(todo._id) ?? addLine(todo._id);
    fillLine(line, todo);
    if (list.children[index] !== line) list.insertBefore(line, list.children[index] ?? null);
  }
}

const form = find(document, "form");
form.onsubmit = (event) => {
  event.preventDefault();
  const text = find(form, "input");
  const output = find(form, "output");
  const { isPersisted } = todos.insert({ _id: temporaryId(), text: text.value, done: false });
  const given = text.value;
  text.value = output.textContent = "";
  isPersisted.promise.catch((error) => {
    output.textContent = messageOf(error);
    text.value ||= given;
  });
};
todos.subscribeChanges(show, { includeInitialState: true });
todos.on("status:error", () => find(document, "p").textContent = "The list cannot be read");
