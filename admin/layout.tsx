/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { Alert, Box, Button, MenuItem, Typography } from "@mui/material";
import { createContext, type ReactNode, useContext, useId } from "react";
import { AppBar, Layout, Link, Logout, Menu, TitlePortal, UserMenu } from "react-admin";
import { useSidebarState } from "react-admin";
import type { PageModel } from "../src/admin/document.ts";
import { CommandPalette } from "./command_palette.tsx";
import { HOME, KEY } from "./icons.ts";
import { Mark } from "./mark.tsx";
import { ModelIcon, PathIcon } from "./model_icon.tsx";
import { usePage } from "./page_context.ts";
import { isSignedIn } from "./session.ts";
import { HIDDEN } from "./theme.ts";

/** Whether the server has answered 401 since the page was loaded. */
export const EndedContext = createContext(false);

export function AppLayout({ children }: { readonly children?: ReactNode }) {
  const { document: { session } } = usePage();
  const hasEnded = useContext(EndedContext);
  return (
    <Layout menu={AppMenu} appBar={AppHead} appBarAlwaysOn>
      {session && hasEnded && !isSignedIn() && (
        <Alert severity="warning" action={<SignIn href={session.signIn} />}>
          You are not signed in, or no longer.
        </Alert>
      )}
      {children}
    </Layout>
  );
}

function SignIn({ href }: { readonly href: string }) {
  return <Button color="inherit" href={href}>Sign in</Button>;
}

/** The order of the models is kept, with the models of one group together. */
export function groupsOf(
  models: readonly PageModel[],
): readonly (readonly [group: string | undefined, models: readonly PageModel[]])[] {
  return [...Map.groupBy(models, ({ group }) => group)];
}

function AppMenu() {
  const { document } = usePage();
  const [isOpen] = useSidebarState();
  return (
    <Box component="nav" aria-label="Models" sx={{ display: "grid", gap: 0.5, pb: 2 }}>
      <Brand title={document.title} isOpen={isOpen} />
      <Menu>
        <Menu.Item to="/" primaryText="Home" leftIcon={<PathIcon path={HOME} />} />
      </Menu>
      {groupsOf(document.models).map(([group, models]) => (
        <MenuGroup key={group ?? ""} group={group} models={models} isOpen={isOpen} />
      ))}
      {document.keys && (
        <Menu>
          <Menu.Item to="/keys" primaryText="API keys" leftIcon={<PathIcon path={KEY} />} />
        </Menu>
      )}
    </Box>
  );
}

function Brand({ title, isOpen }: { readonly title: string; readonly isOpen: boolean }) {
  return (
    <Link
      to="/"
      underline="none"
      color="inherit"
      {...!isOpen && { "aria-label": title }}
      sx={{ display: "flex", alignItems: "center", gap: 1.25, px: 1.75, pt: 2, pb: 1.5 }}
    >
      <Mark title={title} />
      {isOpen && <Typography variant="subtitle2" component="span" noWrap>{title}</Typography>}
    </Link>
  );
}

interface MenuGroupProps {
  readonly group: string | undefined;
  readonly models: readonly PageModel[];
  readonly isOpen: boolean;
}

function MenuGroup({ group, models, isOpen }: MenuGroupProps) {
  const id = useId();
  const label = group === undefined ? {} : { "aria-labelledby": id };
  return (
    <div>
      {group !== undefined && (
        <Typography
          id={id}
          variant="overline"
          component="h2"
          noWrap
          sx={isOpen ? { px: 2, pt: 1, m: 0, color: "text.secondary" } : HIDDEN}
        >
          {group}
        </Typography>
      )}
      <Menu {...label}>
        {models.map((model) => (
          <Menu.Item
            key={model.name}
            to={`/${model.name}`}
            primaryText={model.menu}
            leftIcon={<ModelIcon model={model} />}
          />
        ))}
      </Menu>
    </div>
  );
}

function AppHead() {
  const { askLogin, document: { session, needsLogin, login, user } } = usePage();
  const hasEnded = useContext(EndedContext);
  // A text that the reader has entered is the login, and not the session.
  const own = isSignedIn() ? undefined : session;
  const isOut = needsLogin || hasEnded;
  const leave = isSignedIn() ? <Logout /> : own && !isOut && <SignOut path={own.signOut} />;
  return (
    <AppBar
      color="inherit"
      userMenu={leave
        ? (
          <UserMenu>
            {user && <MenuItem disabled>{user}</MenuItem>}
            {leave}
          </UserMenu>
        )
        : false}
    >
      <TitlePortal component="h1" />
      <CommandPalette />
      {askLogin && <Button color="inherit" onClick={askLogin}>Sign in</Button>}
      {own && !login && isOut && <SignIn href={own.signIn} />}
    </AppBar>
  );
}

function SignOut({ path }: { readonly path: string }) {
  // A form follows the redirect of the server, as on any page of the application.
  const leave = () => {
    const form = Object.assign(document.createElement("form"), { method: "post", action: path });
    document.body.append(form);
    form.submit();
  };
  return <MenuItem onClick={leave}>Sign out</MenuItem>;
}
