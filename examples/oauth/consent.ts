import { fromNodeHeaders, toNodeHandler } from "better-auth/node";
import { type Express, type Request, type Response, urlencoded } from "express";
import { auth, origin } from "./auth.ts";

function escapeHtml(text: unknown): string {
  return String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function sendPage(res: Response, title: string, html: string): void {
  res.set({
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
  });
  res.type("html").send(`<!DOCTYPE html><title>${title}</title><h1>${title}</h1>${html}`);
}

/** The signed query of an authorisation, which better-auth checks. */
function queryOf({ originalUrl }: Request): string {
  return new URL(originalUrl, origin).search.slice(1);
}

export function mountAuth(app: Express): void {
  app.all("/.well-known/oauth-authorization-server/api/auth", toNodeHandler(auth));
  app.all("/api/auth/{*path}", toNodeHandler(auth));

  app.get("/sign-in", (req, res) => {
    sendPage(
      res,
      "Sign in",
      `<form method="post" action="/api/auth/sign-in/email">
<input type="hidden" name="oauth_query" value="${escapeHtml(queryOf(req))}">
<label>Email <input type="email" name="email" required></label>
<label>Password <input type="password" name="password" required></label>
<button>Sign in</button>
</form>`,
    );
  });

  app.get("/consent", async (req, res) => {
    const headers = fromNodeHeaders(req.headers);
    const session = await auth.api.getSession({ headers });
    if (!session) return res.redirect(`/sign-in?${queryOf(req)}`);
    const query = new URLSearchParams(queryOf(req));
    const client = await auth.api.getOAuthClientPublic({
      headers,
      query: { client_id: query.get("client_id") ?? "" },
    });
    const { protocol, host } = new URL(query.get("redirect_uri") ?? "");
    sendPage(
      res,
      "Allow access?",
      `<p>${escapeHtml(client.client_name)} wants to read and write as ${
        escapeHtml(session.user.email)
      }.</p>
<p>It is at ${escapeHtml(`${protocol}//${host}`)}, and asks for: ${
        escapeHtml(query.get("scope"))
      }.</p>
<form method="post">
<input type="hidden" name="oauth_query" value="${escapeHtml(query)}">
<button name="accept" value="yes">Allow</button>
<button name="accept" value="no">Deny</button>
</form>`,
    );
  });

  app.post("/consent", urlencoded({ extended: false }), async (req, res) => {
    const { accept, oauth_query } = req.body;
    const { cookie = "", origin: sender = "" } = req.headers;
    const answer = await auth.handler(
      new globalThis.Request(`${origin}/api/auth/oauth2/consent`, {
        method: "POST",
        headers: { "content-type": "application/json", cookie, origin: sender },
        body: JSON.stringify({ accept: accept === "yes", oauth_query }),
      }),
    );
    const { url } = await answer.json();
    if (answer.ok) res.redirect(303, url);
    else sendPage(res.status(answer.status), "Connect the assistant again", "");
  });
}
