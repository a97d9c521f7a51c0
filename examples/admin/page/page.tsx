/** @jsxRuntime automatic */
/** @jsxImportSource react */
/// <reference lib="dom" />
import { createRoot } from "react-dom/client";
import { Admin, Resource } from "react-admin";
import { ActorCreate, ActorEdit, ActorList } from "./actors.tsx";
import { authProvider, LoginPage } from "./auth.tsx";
import { dataProvider } from "./data_provider.ts";
import { MovieCreate, MovieEdit, MovieList } from "./movies.tsx";

const root = document.getElementById("root");
if (!root) throw new Error("The page has no #root");

// React-admin tells its makers where it runs, unless it is told not to
createRoot(root).render(
  <Admin
    title="Movies"
    dataProvider={dataProvider}
    authProvider={authProvider}
    loginPage={LoginPage}
    requireAuth
    disableTelemetry
  >
    <Resource
      name="movies"
      list={MovieList}
      edit={MovieEdit}
      create={MovieCreate}
      recordRepresentation="name"
    />
    <Resource
      name="actors"
      list={ActorList}
      edit={ActorEdit}
      create={ActorCreate}
      recordRepresentation="name"
    />
  </Admin>,
);
