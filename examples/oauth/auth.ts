import { getOAuthProviderApi, type OAuthOptions, oauthProvider } from "@better-auth/oauth-provider";
import { type GuardRequest, RestError } from "@mongrove/mongrove";
import type { McpAuthorization, McpToken } from "@mongrove/mongrove/mcp";
import { betterAuth, type GenericEndpointContext } from "better-auth";
import { mongodbAdapter } from "better-auth/adapters/mongodb";
import { APIError, createAuthMiddleware, isAPIError } from "better-auth/api";
import { fromNodeHeaders } from "better-auth/node";
import mongoose from "mongoose";
import process from "node:process";

declare global {
  namespace Express {
    interface Request {
      /** `client` is the assistant, if one sends the request. */
      user?: { readonly id: string; readonly name: string; readonly client?: unknown };
    }
  }
}

const { APP_URL, AUTH_SECRET, MONGODB_URI = "", PORT = "3000" } = process.env;
if (!AUTH_SECRET) throw new Error("Cannot start: AUTH_SECRET is not set");
export const { origin } = new URL(APP_URL ?? `http://127.0.0.1:${PORT}`);
const resource = `${origin}/mcp`;
// Without "offline_access", users sign in again after an hour.
const scopes = ["todos", "offline_access"];

const provider: OAuthOptions<string[]> = {
  scopes,
  loginPage: "/sign-in",
  consentPage: "/consent",
  resources: [resource],
  clientRegistrationDefaultResources: [resource],
  allowDynamicClientRegistration: true,
  allowUnauthenticatedClientRegistration: true,
  grantTypes: ["authorization_code", "refresh_token"],
  disableJwtPlugin: true, // a JWT would outlive its session
};

await mongoose.connect(MONGODB_URI);

export const auth = betterAuth({
  baseURL: origin,
  secret: AUTH_SECRET,
  database: mongodbAdapter(mongoose.connection.getClient().db()),
  emailAndPassword: { enabled: true },
  plugins: [oauthProvider(provider)],
  hooks: {
    // Some assistants on the computer of the user do not say that they are programs.
    before: createAuthMiddleware(async ({ path, body }) => {
      if (path !== "/oauth2/register") return;
      return await { context: { body: { application_type: "native", ...body } } };
    }),
    // Assistants ask their users again when no token can be renewed.
    after: createAuthMiddleware(async ({ path, context }) => {
      const token: unknown = Object(context.returned).access_token;
      if (path !== "/oauth2/token" || typeof token !== "string") return;
      if (await verify(token) === undefined) {
        throw new APIError("BAD_REQUEST", { error: "invalid_grant" });
      }
    }),
  },
});

export async function signedIn(req: GuardRequest): Promise<boolean> {
  if (req.user?.client) return true; // verify() has set it
  const session = await auth.api.getSession({ headers: fromNodeHeaders(req.headers) });
  if (!session) throw new RestError(401, { code: "UNAUTHENTICATED" });
  req.user = session.user;
  return true;
}

async function verify(token: string): Promise<McpToken | undefined> {
  if (token.includes(".")) return undefined; // a JWT is never ours
  const context = await auth.$context;
  const tokens = getOAuthProviderApi({ context } as GenericEndpointContext, provider);
  try {
    const { sub = "", client_id: client, aud = [], scope, exp = 0 } = await tokens
      .requireActiveAccessToken(token);
    const user = await context.internalAdapter.findUserById(sub);
    const consent = await context.adapter.findOne<object>({
      model: "oauthConsent",
      where: [{ field: "clientId", value: String(client) }, { field: "userId", value: sub }],
    });
    if (user === null || consent === null) return undefined;
    return {
      user: { id: user.id, name: user.name, client },
      audience: aud,
      scopes: String(scope).split(" "),
      expiresAt: new Date(exp * 1000),
    };
  } catch (error) {
    if (isAPIError(error)) return undefined;
    throw error;
  }
}

export const authorization: McpAuthorization = {
  resource,
  scopes,
  servers: [`${origin}/api/auth`],
  verify,
};
