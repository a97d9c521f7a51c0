import { type Api, connect, type ConnectOptions, type Resource } from "@mongrove/mongrove/client";
import { Film, Person } from "../fixtures/studio.ts";
import { heldFetch } from "./held/held_fetch.ts";
import { mount, type Mounted } from "../support/support.ts";

/** An application with movies and people, and a typed client of it. */
export interface Studio extends AsyncDisposable {
  /** The application. */
  readonly app: Mounted;
  /** The client. */
  readonly api: Api;
  /** The movies. */
  readonly films: Resource<Film>;
  /** The people. */
  readonly people: Resource<Person>;
}

/** Serves movies and people below `/api`. What the client sends and gets is held against the OpenAPI document. */
export async function openStudio(options: ConnectOptions = {}): Promise<Studio> {
  const held = await heldFetch([Film, Person], options.fetch ?? fetch);
  const app = await mount([Film, Person], { at: "/api" });
  const api = connect(`${app.url}/api/`, { ...options, fetch: held.fetch });
  return {
    app,
    api,
    films: api.resource<Film>("/studio"),
    people: api.resource<Person>("/people"),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      held.check();
    },
  };
}
