import type { AdminLogin } from "../src/admin/options.ts";

/** All pages of an origin share `sessionStorage`, so the key has the path of this page. */
const NAME = `mongrove admin ${location.pathname}`;

export function readHeaders(): Readonly<Record<string, string>> {
  const stored = sessionStorage.getItem(NAME);
  return stored === null ? {} : JSON.parse(stored) as Record<string, string>;
}

export function isSignedIn(): boolean {
  return sessionStorage.getItem(NAME) !== null;
}

/** The browser forgets the text when its tab is closed. */
export function signIn({ header, prefix = "" }: AdminLogin, text: string): void {
  sessionStorage.setItem(NAME, JSON.stringify({ [header]: prefix + text }));
}

export function signOut(): void {
  sessionStorage.removeItem(NAME);
}
