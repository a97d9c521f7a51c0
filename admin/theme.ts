import type { PaletteOptions, Theme, ThemeOptions } from "@mui/material";
import { defaultDarkTheme, defaultLightTheme, type RaThemeOptions } from "react-admin";

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif';

const typography = {
  fontFamily: FONT,
  h5: { fontSize: "1.375rem", fontWeight: 650, letterSpacing: "-0.01em" },
  h6: { fontSize: "1.0625rem", fontWeight: 600, letterSpacing: "-0.005em" },
  subtitle2: { fontWeight: 600 },
  body1: { fontSize: "0.9375rem" },
  button: { textTransform: "none", fontWeight: 600, letterSpacing: 0 },
  overline: { fontSize: "0.75rem", fontWeight: 600, lineHeight: 2, textTransform: "none" },
} as const;

type Styled = { readonly theme: Theme };

export function tint({ palette }: Theme): string {
  return `color-mix(in srgb, ${palette.primary.main} ${
    palette.mode === "dark" ? 18 : 10
  }%, transparent)`;
}

/** Only screen readers get a text in this style. */
export const HIDDEN = {
  position: "absolute",
  width: 1,
  height: 1,
  m: 0,
  overflow: "hidden",
  clipPath: "inset(50%)",
} as const;

const framed = ({ theme: { palette } }: Styled) => ({
  border: `1px solid ${palette.divider}`,
  boxShadow: "none",
  borderRadius: 10,
});

/** The widths of phones. */
export const TIGHT = "@media (max-width: 599.95px)";

const INPUT = { variant: "outlined", margin: "dense", size: "small", fullWidth: true } as const;

const components = {
  MuiPaper: { styleOverrides: { root: { backgroundImage: "none" } } },
  MuiCard: { styleOverrides: { root: framed } },
  MuiAppBar: {
    styleOverrides: {
      root: ({ theme: { palette } }: Styled) => ({
        boxShadow: "none",
        color: palette.text.primary,
        backgroundColor: palette.background.paper,
        borderBottom: `1px solid ${palette.divider}`,
      }),
    },
  },
  // The minimum height of a button is the size of a target that a finger hits.
  MuiButton: {
    defaultProps: { disableElevation: true },
    styleOverrides: { root: { minHeight: 36, borderRadius: 8, padding: "4px 12px" } },
  },
  // React-admin names the box of a row, but a screen reader reads the name of its input.
  MuiCheckbox: {
    defaultProps: {
      slotProps: {
        root: { "aria-label": undefined },
        input: (owner: object) => ({ "aria-label": Reflect.get(owner, "aria-label") }),
      },
    },
  },
  MuiChip: { styleOverrides: { root: { borderRadius: 6 } } },
  MuiDialog: { styleOverrides: { paper: { borderRadius: 12 } } },
  RaConfirm: { styleOverrides: { root: { "& .MuiButton-startIcon": { display: "none" } } } },
  MuiDialogTitle: { styleOverrides: { root: { fontSize: "1.125rem", fontWeight: 650 } } },
  MuiDialogActions: { styleOverrides: { root: { padding: "12px 24px 20px" } } },
  MuiMenuItem: { styleOverrides: { root: { minHeight: 38 } } },
  MuiOutlinedInput: { styleOverrides: { root: { borderRadius: 8 } } },
  MuiTextField: { defaultProps: INPUT },
  MuiFormControl: { defaultProps: INPUT },
  MuiTableCell: {
    styleOverrides: {
      root: ({ theme: { palette } }: Styled) => ({ borderColor: palette.divider }),
      head: ({ theme: { palette } }: Styled) => ({
        fontSize: "0.8125rem",
        fontWeight: 600,
        color: palette.text.secondary,
        backgroundColor: palette.background.paper,
      }),
    },
  },
  MuiTableRow: {
    styleOverrides: {
      root: { "&:last-child > td, &:last-child > th[scope=row]": { borderBottom: 0 } },
    },
  },
  RaDataTable: {
    styleOverrides: {
      root: {
        "& .RaDataTable-rowCell": { padding: "9px 16px" },
        "& .RaDataTable-headerCell": { padding: "9px 16px" },
      },
    },
  },
  RaLayout: {
    styleOverrides: {
      root: {
        minWidth: 0,
        "& .RaLayout-appFrame": { marginTop: 56 },
        "& .RaLayout-content": {
          minWidth: 0,
          padding: "12px 28px 32px",
          [TIGHT]: { padding: "8px 12px 32px" },
        },
      },
    },
  },
  RaAppBar: {
    styleOverrides: {
      root: { "& .RaAppBar-toolbar": { minHeight: 56, padding: "0 16px 0 8px", gap: 4 } },
    },
  },
  RaSidebar: {
    styleOverrides: {
      root: ({ theme: { palette } }: Styled) => ({
        "&.MuiDrawer-docked": { borderRight: `1px solid ${palette.divider}`, height: "auto" },
        "& .RaSidebar-fixed": { height: "calc(100vh - 56px)" },
        "& .MuiDrawer-paper": { backgroundColor: palette.background.paper },
        "&.MuiDrawer-docked .MuiDrawer-paper": { backgroundColor: "transparent" },
      }),
    },
  },
  RaMenu: { styleOverrides: { root: { margin: 0, padding: 0 } } },
  RaMenuItemLink: {
    styleOverrides: {
      root: ({ theme }: Styled) => ({
        margin: "1px 8px",
        padding: "6px 8px",
        borderRadius: 8,
        fontSize: "0.9375rem",
        color: theme.palette.text.primary,
        "& .RaMenuItemLink-icon": { minWidth: 34 },
        "&.RaMenuItemLink-active, &.RaMenuItemLink-active .RaMenuItemLink-icon": {
          color: theme.palette.primary.main,
          fontWeight: 600,
        },
        "&.RaMenuItemLink-active": { backgroundColor: tint(theme) },
      }),
    },
  },
  RaSimpleList: { styleOverrides: { root: { "& .RaSimpleList-tertiary": { opacity: 1 } } } },
  RaToolbar: {
    styleOverrides: {
      root: ({ theme: { palette } }: Styled) => ({
        backgroundColor: palette.background.paper,
        borderTop: `1px solid ${palette.divider}`,
      }),
    },
  },
  RaCreateButton: { defaultProps: { variant: "contained" } },
  RaListToolbar: { styleOverrides: { root: { [TIGHT]: { backgroundColor: "transparent" } } } },
  RaTopToolbar: { styleOverrides: { root: { [TIGHT]: { backgroundColor: "transparent" } } } },
} as const;

const themeOf = (base: ThemeOptions, palette: PaletteOptions): RaThemeOptions => ({
  ...base,
  shape: { borderRadius: 8 },
  typography,
  palette: { ...base.palette, ...palette },
  sidebar: { width: 232, closedWidth: 56 },
  components: { ...base.components, ...components },
});

const GREEN = { main: "#2b5c34" };
const PALE = { main: "#9ccea3" };

export const LIGHT: RaThemeOptions = themeOf(defaultLightTheme, {
  mode: "light",
  primary: GREEN,
  secondary: GREEN,
  error: { main: "#b3261e" },
  background: { default: "#f7f8f7", paper: "#fff" },
  text: { primary: "#1a1f1b", secondary: "#58615a" },
  divider: "#e2e6e2",
});

export const DARK: RaThemeOptions = themeOf(defaultDarkTheme, {
  mode: "dark",
  primary: PALE,
  secondary: PALE,
  error: { main: "#f2b8b5" },
  background: { default: "#121412", paper: "#1a1d1b" },
  text: { primary: "#e8ebe8", secondary: "#a6aea7" },
  divider: "#2e332f",
});
