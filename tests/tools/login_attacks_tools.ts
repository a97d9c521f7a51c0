import { assertEquals } from "@std/assert";
import { test } from "../harness/testing.ts";
import {
  filesOfLogin,
  type LoginApp,
  openLoginApp,
  PASSWORD,
  SESSION_SETTINGS,
  sessionsOf,
} from "./support/login_app.ts";

/** The password of a stranger, who signs up with the address of somebody else. */
const STRANGE = "battery horse correct";

/** Returns the functions of a login. Each step has an address, because the posts of one address are limited. */
function loginOf(app: LoginApp, address: string) {
  const sessions = sessionsOf(app, { "x-forwarded-for": address });
  return {
    ...app,
    ...sessions,
    /** Sets a password by a mail that asks for it. */
    async choose(email: string, mail: number) {
      const token = (await sessions.linkOf(email, mail)).searchParams.get("token");
      const reply = await sessions.auth("reset-password", { token, newPassword: PASSWORD });
      assertEquals(reply.status, 200);
    },
    /** Asserts that the owner has the account, and the stranger has not. */
    async assertOwned(email: string, stranger: { readonly cookie: string }) {
      assertEquals((await sessions.signIn(email, STRANGE)).status, 401);
      assertEquals((await app.get("/todos", { headers: stranger })).status, 401);
      const owner = await sessions.signIn(email);
      assertEquals([owner.status, (await app.get("/todos", owner)).status], [200, 200]);
    },
  };
}

type Login = ReturnType<typeof loginOf>;

const STEPS: Readonly<Record<string, (app: Login) => Promise<void>>> = {
  async "only a stranger signs up"(app) {
    const email = "only@acme.example";
    const stranger = await app.join(email, STRANGE);
    await app.openLink(await app.linkOf(email, 1));
    assertEquals((await app.signIn(email, STRANGE)).status, 401);
    await app.choose(email, 2);
    await app.assertOwned(email, stranger);
  },
  async "the owner signs up after a stranger, and opens the first link"(app) {
    const email = "first@acme.example";
    const stranger = await app.join(email, STRANGE);
    const owner = await app.join(email);
    await app.linkOf(email, 2);
    await app.openLink(await app.linkOf(email, 1), owner);
    await app.choose(email, 3);
    await app.assertOwned(email, stranger);
  },
  async "the owner signs up after a stranger, and opens the second link"(app) {
    const email = "second@acme.example";
    const stranger = await app.join(email, STRANGE);
    await app.join(email);
    await app.choose(email, 2);
    await app.openLink(await app.linkOf(email, 1));
    await app.assertOwned(email, stranger);
  },
  async "the owner signs up before a stranger"(app) {
    const email = "before@acme.example";
    const owner = await app.join(email);
    const stranger = await app.join(email, STRANGE);
    await app.openLink(await app.linkOf(email, 1), owner);
    await app.assertOwned(email, stranger);
  },
  async "a stranger signs up and has the mail sent again"(app) {
    const email = "again@acme.example";
    const stranger = await app.join(email, STRANGE);
    assertEquals((await app.auth("send-verification-email", { email }, stranger)).status, 200);
    await app.openLink(await app.linkOf(email, 2));
    await app.choose(email, 3);
    await app.assertOwned(email, stranger);
  },
  async "a stranger has the mail of the owner sent again"(app) {
    const email = "theirs@acme.example";
    const owner = await app.join(email);
    const stranger = await app.join(email, STRANGE);
    assertEquals((await app.auth("send-verification-email", { email }, stranger)).status, 200);
    await app.openLink(await app.linkOf(email, 3), owner);
    await app.assertOwned(email, stranger);
  },
  async "a new password ends the sessions of the old one"(app) {
    const email = "new@acme.example";
    const session = await app.enter(email);
    assertEquals((await app.auth("request-password-reset", { email })).status, 200);
    await app.choose(email, 2);
    await app.assertOwned(email, session.headers);
  },
  async "a redirect to another origin is a 400"(app) {
    const email = "redirect@acme.example";
    const targets = [
      ..."/..//evil.example /.//evil.example /x/..//evil.example /%2e%2e//evil.example".split(" "),
      ..."//evil.example http://evil.example javascript:alert(1) http://".split(" "),
    ];
    for (const target of targets) {
      const callback = `callbackURL=${encodeURIComponent(target)}`;
      for (const page of ["verify-email?token=x&", "reset-password/x?"]) {
        const { status } = await app.get(`/api/auth/${page}${callback}`);
        assertEquals([page, target, status], [page, target, 400]);
      }
    }
    const own = "http://notes.example/welcome?next=//x";
    const posts = { "request-password-reset": "redirectTo", "sign-up/email": "callbackURL" };
    for (const [page, name] of Object.entries(posts)) {
      const statusWith = async (target: string) => {
        const invitation = await app.invite(email);
        const body = { name: "Ann", email, password: PASSWORD, invitation, [name]: target };
        return (await app.auth(page, body)).status;
      };
      assertEquals([await statusWith("/..//evil.example"), await statusWith(own)], [400, 200]);
    }
    const { pathname, search } = await app.linkOf(email, 1);
    assertEquals((await app.get(pathname + search)).headers.get("location"), own);
  },
  async "operators of MongoDB in a body are a 4xx"(app) {
    const email = "operator@acme.example";
    await app.enter(email);
    const count = await app.users.countDocuments();
    const bodies = {
      "sign-up/email": { name: "Eve", email: "eve@acme.example", password: PASSWORD },
      "sign-in/email": { email, password: PASSWORD },
      "send-verification-email": { email },
      "request-password-reset": { email },
      "reset-password": { token: "x", newPassword: PASSWORD },
    };
    for (const [page, body] of Object.entries(bodies)) {
      for (const name of Object.keys(body)) {
        const { status } = await app.auth(page, { ...body, [name]: { $ne: null } });
        assertEquals([page, name, status], [page, name, 400]);
      }
    }
    assertEquals(await app.users.countDocuments(), count);
  },
  async "a name is a short text of one line"(app) {
    const { headers } = await app.enter("named@acme.example");
    const email = "unnamed@acme.example";
    const invitation = await app.invite(email);
    for (const name of [{ toString: 1 }, ["x"], null, 5, "", "x".repeat(101), "Ann\r\nEve"]) {
      const body = { name, email, password: PASSWORD, invitation };
      const statuses = [
        (await app.auth("update-user", { name }, headers)).status,
        (await app.auth("sign-up/email", body, { "x-forwarded-for": "192.0.2.101" })).status,
      ];
      assertEquals([name, statuses], [name, [400, 400]]);
    }
    assertEquals((await app.auth("update-user", { name: "Ann <b>" }, headers)).status, 200);
    assertEquals((await app.get("/", { headers })).text.includes("Ann &#60;b&#62;,"), true);
  },
  async "a large body is a 413, of every type"(app) {
    const raw = JSON.stringify({ email: "x@acme.example", password: "x".repeat(200_000) });
    for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain"]) {
      const headers = { "content-type": type, "x-forwarded-for": "192.0.2.102" };
      for (const path of ["/api/auth/sign-in/email", "/api/auth/x/../sign-up/email"]) {
        const { status } = await app.send("POST", path, { raw, headers });
        assertEquals([type, path, status], [type, path, 413]);
      }
    }
  },
  async "an invitation has one address, with which its owner can sign up"(app) {
    const boss = await app.enter("boss@acme.example");
    await app.users.updateOne({ email: "boss@acme.example" }, { $set: { role: "admin" } });
    const statusOf = async (email: string) =>
      (await app.post("/invitations", { email }, boss)).status;
    for (const email of ["a@x.example,b@y.example", "a@b<c@d.example>", "a@b", "änn@x.example"]) {
      assertEquals([email, await statusOf(email)], [email, 400]);
    }
    assertEquals(await statusOf(" Ann.O'Neil+a_b@Mail-1.x.example"), 201);
  },
  async "pages take any note"(app) {
    for (const note of ["constructor", "toString", "__proto__", "mail&note=saved", "mail"]) {
      assertEquals([note, (await app.get(`/sign-in?note=${note}`)).status], [note, 200]);
    }
  },
  async "posts from one IPv6 /64 are limited together"(app) {
    const statusFrom = async (address: string) =>
      (await app.auth("sign-out", {}, { "x-forwarded-for": address })).status;
    for (let host = 1; host <= 30; host++) await statusFrom(`2001:db8:1:1::${host}`);
    assertEquals(await statusFrom("2001:db8:1:1:ffff::1"), 429);
    assertEquals(await statusFrom("2001:db8:2:1::1"), 200);
  },
};

test("new --login: accounts belong to the owners of their addresses", async (t) => {
  const files = filesOfLogin();
  const trusting = files["app.ts"]?.replace("app = express();", '$& app.set("trust proxy", 1);');
  const settings = [{ ...files, "app.ts": trusting ?? "" }, SESSION_SETTINGS] as const;
  await using app = await openLoginApp(...settings);
  for (const [index, [name, run]] of Object.entries(STEPS).entries()) {
    await t.step(name, () => run(loginOf(app, `192.0.2.${index}`)));
  }
});
