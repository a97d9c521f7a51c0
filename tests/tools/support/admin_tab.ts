import { assertEquals } from "@std/assert";
import type { RequestListener } from "node:http";
import { buildApp as buildDesk } from "../../../examples/helpdesk/app.ts";
import { seed as seedDesk } from "../../../examples/helpdesk/seed.ts";
import { Tab } from "./admin_page.ts";
import { type OpenPage, startChromium } from "./chromium.ts";
import { type OpenExample, openExample } from "./example.ts";
import { buildApp as buildSamples, seed as seedSamples } from "./samples.ts";

/** An admin page that is served, and a Chromium for it. */
export interface AdminBrowser extends AsyncDisposable {
  readonly app: OpenExample;
  /** Opens a tab with a storage of its own at a place such as `/tickets`, and signs in as a user, if one is given. */
  readonly openTab: (place: string, options?: TabOptions) => Promise<Tab>;
  /** The statuses of the errors that Chromium has told. */
  readonly refusals: () => string[];
}

export interface TabOptions {
  readonly user?: string;
  readonly isPhone?: boolean;
  readonly colors?: "light" | "dark";
}

/** The application whose page is served. */
export interface Served {
  readonly buildApp: () => RequestListener;
  readonly seed: () => Promise<void>;
  readonly path: string;
}

const REFUSAL = /^Failed to load resource: the server responded with a status of (\d+) /;
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844, isMobile: true, hasTouch: true };

/** Serves the page of the help desk. */
export function openDesk(): Promise<AdminBrowser> {
  return openAdminBrowser({ buildApp: buildDesk, seed: seedDesk, path: "/admin/" });
}

/** Serves the page of a model with a field of every type. */
export function openSamples(seed: () => Promise<void> = seedSamples): Promise<AdminBrowser> {
  return openAdminBrowser({ buildApp: buildSamples, seed, path: "/office/admin/" });
}

/** Disposing fails if a tab has asked other origins, or has told a warning or an error that is no refusal. */
export async function openAdminBrowser({ path, ...example }: Served): Promise<AdminBrowser> {
  const app = await openExample(example);
  const chromium = await startChromium();
  const opened: OpenPage[] = [];
  const complaints = () => opened.flatMap((tab) => tab.complaints);
  return {
    app,
    async openTab(place, { user, isPhone = false, colors = "light" } = {}) {
      // Another tab would bring its filters along.
      const shown = await chromium.open(`${app.url}${path}#${place}`, await chromium.addContext());
      opened.push(shown);
      await shown.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: colors }]);
      await shown.page.setViewport(isPhone ? PHONE : DESKTOP);
      if (user !== undefined) {
        await shown.page.locator("input[type=password]").fill(user);
        await shown.page.locator("button[type=submit]").click();
      }
      return new Tab(shown.page);
    },
    refusals: () => complaints().flatMap((text) => REFUSAL.exec(text)?.[1] ?? []),
    async [Symbol.asyncDispose]() {
      await chromium[Symbol.asyncDispose]();
      await app[Symbol.asyncDispose]();
      assertEquals(opened.flatMap(({ foreign }) => foreign), []);
      assertEquals(complaints().filter((text) => !REFUSAL.test(text)), []);
    },
  };
}
