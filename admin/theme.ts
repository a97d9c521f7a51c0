import { defaultDarkTheme, defaultLightTheme, type RaThemeOptions } from "react-admin";

/** The size of a target that a finger hits. */
const components = {
  MuiButton: { styleOverrides: { root: { textTransform: "none", minHeight: 36 } } },
} as const;

const GREEN = { main: "#2b5c34" };
const RED = { main: "#b3261e" };
const PALE = { main: "#9ccea3" };
const PINK = { main: "#f2b8b5" };
const NIGHT = { default: "#161816", paper: "#1f221f" };

export const LIGHT: RaThemeOptions = {
  ...defaultLightTheme,
  palette: {
    ...defaultLightTheme.palette,
    mode: "light",
    primary: GREEN,
    secondary: GREEN,
    error: RED,
  },
  components: { ...defaultLightTheme.components, ...components },
};

export const DARK: RaThemeOptions = {
  ...defaultDarkTheme,
  palette: {
    ...defaultDarkTheme.palette,
    mode: "dark",
    primary: PALE,
    secondary: PALE,
    error: PINK,
    background: NIGHT,
  },
  components: { ...defaultDarkTheme.components, ...components },
};
