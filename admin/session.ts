import type { AdminLogin } from "../src/admin/options.ts";

/** The place of the login in `sessionStorage`, which all pages of an origin share. */
const NAME = `mongrove admin ${location.pathname}`;

/** Returns the headers of the login, or no headers if the reader has not signed in. */
export function readHeaders(): Readonly<Record<string, string>> {
  const stored = sessionStorage.getItem(NAME);
  return stored === null ? {} : JSON.parse(stored) as Record<string, string>;
}

export function isSignedIn(): boolean {
  return sessionStorage.getItem(NAME) !== null;
}

/** Keeps the text that the reader has entered. The browser forgets it when its tab is closed. */
export function signIn({ header, prefix = "" }: AdminLogin, text: string): void {
  sessionStorage.setItem(NAME, JSON.stringify({ [header]: prefix + text }));
}

export function signOut(): void {
  sessionStorage.removeItem(NAME);
}
