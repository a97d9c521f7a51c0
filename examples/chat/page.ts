/// <reference lib="dom" />
import { connect } from "@mongrove/mongrove/client";
import type { Room } from "./room.ts";

const rooms = connect("/api").resource<Room>("/rooms");
const author = new URLSearchParams(location.search).get("name") ?? "Somebody";

function find<K extends keyof HTMLElementTagNameMap>(name: K): HTMLElementTagNameMap[K] {
  const element = document.querySelector(name);
  if (element === null) throw new Error(`The page has no ${name}`);
  return element;
}

function tell(problem: unknown): void {
  find("p").textContent = problem instanceof Error ? problem.message : "";
}

function show(items: readonly (string | Node)[]): void {
  tell(undefined);
  find("ul").replaceChildren(...items.map((item) => {
    const line = document.createElement("li");
    line.append(item);
    return line;
  }));
}

async function showRooms(signal: AbortSignal): Promise<void> {
  for await (const list of rooms.live({ sort: ["name"], signal, onDisconnect: tell })) {
    show(
      list.map(({ _id, name }) =>
        Object.assign(document.createElement("a"), { href: `#${_id}`, textContent: name })
      ),
    );
  }
}

/** Shows the newest messages, the last one below. */
async function showMessages(room: string, signal: AbortSignal): Promise<void> {
  const newest = { sort: ["-sentAt"], limit: 50, signal, onDisconnect: tell } as const;
  for await (const list of rooms.part("messages", room).live(newest)) {
    show(list.map(({ author, text }) => `${author}: ${text}`).reverse());
  }
}

let open = new AbortController();

/** A browser has six connections to a server of HTTP/1.1 for all of its tabs, so a page has one live list at a time. */
function enter(): void {
  open.abort();
  open = new AbortController();
  const room = location.hash.slice(1);
  show([]);
  (room ? showMessages(room, open.signal) : showRooms(open.signal)).catch(tell);
}

find("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const input = find("input");
  const room = location.hash.slice(1);
  const sent = room
    ? rooms.part("messages", room).create({ author, text: input.value })
    : rooms.create({ name: input.value });
  sent.then(() => input.value = "").catch(tell);
});
addEventListener("hashchange", enter);
enter();
