/** @jsxRuntime automatic */
/** @jsxImportSource react */
/// <reference lib="dom" />
/// <reference lib="dom.asynciterable" />
import { createTheme, CssBaseline, ThemeProvider, useMediaQuery } from "@mui/material";
import { useCallback, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import type { PageDocument } from "../src/admin/document.ts";
import { AdminApp } from "./admin_app.tsx";
import { withForm } from "./fields.ts";
import { LoginPage } from "./login_page.tsx";
import { MessagePage } from "./message_page.tsx";
import { isSignedIn, readHeaders, signIn, signOut } from "./session.ts";
import { DARK, LIGHT } from "./theme.ts";

type State =
  | { readonly kind: "loading" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "loaded"; readonly document: PageDocument };

async function loadDocument(): Promise<State> {
  try {
    const response = await fetch("routes.json", { headers: readHeaders() });
    if (!response.ok) return { kind: "failed", reason: `The server answered ${response.status}.` };
    const { models, ...document } = await response.json() as PageDocument;
    return { kind: "loaded", document: { ...document, models: models.map(withForm) } };
  } catch {
    return { kind: "failed", reason: "The server did not answer." };
  }
}

function Page() {
  const [state, setState] = useState<State>({ kind: "loading" });
  const [isRefused, setRefused] = useState(false);
  const [asksLogin, setAsksLogin] = useState(false);
  const load = useCallback(() => void loadDocument().then(setState), []);
  useEffect(load, []);
  const onSignOut = useCallback((refused: boolean) => {
    signOut();
    setRefused(refused);
    setAsksLogin(refused);
    load();
  }, []);
  const askLogin = useCallback(() => setAsksLogin(true), []);
  if (state.kind === "loading") return null;
  if (state.kind === "failed") {
    return <MessagePage title="The page cannot be loaded" text={state.reason} onRetry={load} />;
  }
  const { document } = state;
  const { title, login, session, models, needsLogin } = document;
  const isOpen = models.length > 0;
  // A guard that returns `false` answers 403, also to a reader whom a login would let pass.
  if (login !== undefined && (!isOpen || needsLogin && asksLogin)) {
    const onLogin = (text: string) => {
      signIn(login, text);
      setRefused(true);
      load();
    };
    const onCancel = isOpen ? () => onSignOut(false) : undefined;
    return (
      <LoginPage
        title={title}
        login={login}
        isRefused={isRefused || !isOpen && isSignedIn()}
        onLogin={onLogin}
        onCancel={onCancel}
      />
    );
  }
  if (isOpen) {
    const ask = login !== undefined && needsLogin ? askLogin : undefined;
    return <AdminApp document={document} onSignOut={onSignOut} askLogin={ask} />;
  }
  const text = needsLogin
    ? `You are not signed in.${
      session ? "" : " Sign in to the application, and load this page again."
    }`
    : "You may not see anything here. Ask the owner of the application for the rights.";
  const signInPath = needsLogin ? session?.signIn : undefined;
  return <MessagePage title={title} text={text} signInPath={signInPath} onRetry={load} />;
}

/** React-admin keeps the colours that the reader has chosen under this key. */
const CHOSEN_COLORS = "RaStore.theme";

/** React-admin would make another router for each new element of the page, as when the colours change. */
const PAGE = <Page />;

function Themed() {
  const prefersDark = useMediaQuery("(prefers-color-scheme: dark)", { noSsr: true });
  const chosen = localStorage.getItem(CHOSEN_COLORS);
  const isDark = chosen === null ? prefersDark : chosen === '"dark"';
  return (
    <ThemeProvider theme={createTheme(isDark ? DARK : LIGHT)}>
      <CssBaseline />
      {PAGE}
    </ThemeProvider>
  );
}

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no #root");
createRoot(root).render(<Themed />);
