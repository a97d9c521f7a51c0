import { createContext, type RefObject, useContext, useEffect } from "react";
import { useRecordContext, useRefresh } from "react-admin";
import type { Entity } from "./page_context.ts";

/** Called before a refresh to keep the typed values of a form. */
export const KeepContext = createContext<(() => void) | undefined>(undefined);

/** Refreshes the page and keeps the typed values of its form. */
export function useRefreshAround(): () => void {
  const keep = useContext(KeepContext);
  const refresh = useRefresh();
  return () => {
    keep?.();
    refresh();
  };
}

/** A write without a connection fails at once. React-admin would hold it back, and say nothing. */
export const AT_ONCE = { networkMode: "always" } as const;

/** In the values of a form, the key of the entity from which the reader has begun to type. */
export const START = Symbol("start");

export function FormStart({ start, isKept }: {
  readonly start: RefObject<Entity | undefined>;
  readonly isKept: boolean;
}) {
  const entity = useRecordContext<Entity & { readonly id: string }>();
  useEffect(() => {
    if (!isKept || start.current === undefined) start.current = entity;
  }, [entity, isKept]);
  return null;
}
