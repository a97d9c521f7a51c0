import { type Reply, request } from "../../harness/request.ts";

const ENTITY = /&#(\d+);/g;

function unescapeHtml(text: string): string {
  return text.replace(ENTITY, (_, code) => String.fromCharCode(Number(code)));
}

/** A browser without JavaScript, as far as sign-ins need one. */
export class Browser {
  readonly #cookies = new Map<string, string>();

  /** @param origin The application. No redirect to another origin is followed. */
  constructor(readonly origin: string) {}

  get headers(): Record<string, string> {
    const cookie = [...this.#cookies].map((pair) => pair.join("=")).join("; ");
    return { cookie, origin: this.origin, accept: "text/html" };
  }

  /** Opens a URL. Returns the page, or the redirect to another origin. */
  async open(url: URL | string, form?: URLSearchParams): Promise<Page> {
    const target = new URL(url, this.origin);
    if (target.origin !== this.origin) return { url: target };
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const sent = form === undefined ? {} : { method: "POST", raw: String(form) };
    const reply = await request<string>(target, {
      ...sent,
      headers: { ...this.headers, ...form && type },
    });
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies.set(name, value);
    }
    const next = reply.headers.get("location");
    return next === null ? { url: target, reply } : await this.open(new URL(next, target));
  }

  /** Sends the form of a page. */
  async send({ url, reply }: Page, values: Readonly<Record<string, string>>): Promise<Page> {
    const [, action = ""] = /<form [^>]*action="([^"]*)"/.exec(reply?.text ?? "") ?? [];
    const hidden = reply?.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g) ?? [];
    const form = new URLSearchParams(
      [...hidden].map(([, name = "", value = ""]) => [name, unescapeHtml(value)]),
    );
    for (const [name, value] of Object.entries(values)) form.set(name, value);
    return await this.open(new URL(action, url), form);
  }
}

/** A redirect to another origin has no reply. */
export interface Page {
  readonly url: URL;
  readonly reply?: Reply<string>;
}
