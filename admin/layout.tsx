/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Button, Typography } from "@mui/material";
import type { ReactNode } from "react";
import { AppBar, Layout, Menu, TitlePortal } from "react-admin";
import { usePage } from "./page_context.ts";

/** The frame of all pages, with the name of the application above its models. */
export function AppLayout({ children }: { readonly children?: ReactNode }) {
  return <Layout menu={AppMenu} appBar={AppHead}>{children}</Layout>;
}

function AppMenu() {
  const { document } = usePage();
  return (
    <>
      <Typography variant="subtitle2" noWrap sx={{ px: 2, pt: 2, color: "text.secondary" }}>
        {document.title}
      </Typography>
      <Menu />
    </>
  );
}

function AppHead() {
  const { askLogin } = usePage();
  return (
    <AppBar>
      <TitlePortal />
      {askLogin && <Button color="inherit" onClick={askLogin}>Sign in</Button>}
    </AppBar>
  );
}
