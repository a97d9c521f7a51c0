import { createContext, type RefObject, useContext, useEffect } from "react";
import { useRecordContext, useRefresh } from "react-admin";
import type { Entity } from "./page_context.ts";

/** The form keeps what the reader has typed when the entity is read again. */
export const KeepContext = createContext<(() => void) | undefined>(undefined);

/** What the reader has typed into the form stays. */
export function useRefreshAround(): () => void {
  const keep = useContext(KeepContext);
  const refresh = useRefresh();
  return () => {
    keep?.();
    refresh();
  };
}

/** Under this key, the values of a form have the entity from which the reader has begun to type. */
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
