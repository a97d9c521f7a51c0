/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { useMemo, useState } from "react";
import { Admin, type AuthProvider, localStorageStore, type RaRecord, Resource } from "react-admin";
import type { PageDocument, PageModel } from "../src/admin/document.ts";
import { EntityCreate } from "./create_page.tsx";
import { createDataProvider } from "./data_provider.ts";
import { EntityEdit, EntityShow } from "./entity_page.tsx";
import { nameOf } from "./fields.ts";
import { HomePage } from "./home_page.tsx";
import { KeysPage } from "./keys_page.tsx";
import { AppLayout, EndedContext } from "./layout.tsx";
import { EntityList } from "./list_page.tsx";
import { UnknownPage } from "./missing_page.tsx";
import { openPage, PageContext } from "./page_context.ts";
import { isSignedIn } from "./session.ts";
import { DARK, LIGHT } from "./theme.ts";

interface AdminAppProps {
  readonly document: PageDocument;
  readonly onSignOut: (isRefused: boolean) => void;
  readonly askLogin: (() => void) | undefined;
}

const STORE = localStorageStore();

/** The menu of a phone covers the page, so it is closed when the page is loaded. */
if (matchMedia("(max-width: 599.95px)").matches) STORE.removeItem("sidebar.open");

export function AdminApp({ document, onSignOut, askLogin }: AdminAppProps) {
  const [hasEnded, setEnded] = useState(false);
  const page = useMemo(
    () => openPage(document, { askLogin, onRefused: () => setEnded(true) }),
    [document, askLogin],
  );
  const dataProvider = useMemo(() => createDataProvider(page), [page]);
  const authProvider = useMemo(() => authOf(onSignOut), [onSignOut]);
  return (
    <PageContext.Provider value={page}>
      <EndedContext.Provider value={hasEnded}>
        <Admin
          title={document.title}
          dataProvider={dataProvider}
          store={STORE}
          {...isSignedIn() && { authProvider }}
          theme={LIGHT}
          darkTheme={DARK}
          layout={AppLayout}
          dashboard={HomePage}
          catchAll={UnknownPage}
          loginPage={false}
          disableTelemetry
        >
          {document.models.map(resourceOf)}
          {/* No model of a router with these routes has this path. */}
          {document.keys && <Resource name="keys" list={<KeysPage keys={document.keys} />} />}
        </Admin>
      </EndedContext.Provider>
    </PageContext.Provider>
  );
}

function resourceOf(model: PageModel) {
  const { name, menu, operations: { one, create, update } } = model;
  const text = (entity: RaRecord) => nameOf(entity, model);
  return (
    <Resource
      key={name}
      name={name}
      options={{ label: menu }}
      list={<EntityList name={name} />}
      {...create && { create: <EntityCreate name={name} /> }}
      {...one && { edit: update ? <EntityEdit name={name} /> : <EntityShow name={name} /> }}
      {...one && { show: <EntityShow name={name} /> }}
      recordRepresentation={text}
    />
  );
}

/** The reader is signed in before this part of the page is shown. A 401 means that the server has ended the login. */
function authOf(onSignOut: (isRefused: boolean) => void): AuthProvider {
  return {
    login: () => Promise.resolve(),
    checkAuth: () => Promise.resolve(),
    logout: () => {
      onSignOut(false);
      return Promise.resolve(false);
    },
    checkError: ({ status }: { readonly status?: number }) => {
      if (status === 401) onSignOut(true);
      return Promise.resolve();
    },
  };
}
