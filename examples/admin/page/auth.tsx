/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { type AuthProvider, Login, PasswordInput, required, SaveButton } from "react-admin";
import { SimpleForm, Toolbar, useLogin } from "react-admin";

const NAME = "key";

/** The key that lets writes pass, or an empty text. It is forgotten with the tab. */
export function readKey(): string {
  return sessionStorage.getItem(NAME) ?? "";
}

/** Keeps the key. It is asked for again when the server refuses it. */
export const authProvider: AuthProvider = {
  login: ({ key }) => Promise.resolve(sessionStorage.setItem(NAME, key)),
  logout: () => Promise.resolve(sessionStorage.removeItem(NAME)),
  checkAuth: () => readKey() ? Promise.resolve() : Promise.reject(),
  checkError: ({ status }) => status === 401 ? Promise.reject() : Promise.resolve(),
};

/** Asks for the key. */
export function LoginPage() {
  const login = useLogin();
  const onSubmit = (values: object) => login(values);
  const toolbar = (
    <Toolbar>
      <SaveButton label="Sign in" icon={false} alwaysEnable />
    </Toolbar>
  );
  return (
    <Login>
      <SimpleForm onSubmit={onSubmit} toolbar={toolbar}>
        <PasswordInput source="key" validate={required()} autoFocus />
      </SimpleForm>
    </Login>
  );
}
