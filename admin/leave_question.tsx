/** @jsxRuntime automatic */
/** @jsxImportSource react */
import { useEffect } from "react";
import { Confirm, useBlocker } from "react-admin";
import { type Control, useFormState } from "react-hook-form";

export function LeaveQuestion({ formControl }: { readonly formControl?: Control }) {
  const { dirtyFields, isSubmitSuccessful } = useFormState(
    formControl ? { control: formControl } : {},
  );
  const isSafe = Object.keys(dirtyFields).length === 0 || isSubmitSuccessful;
  const blocker = useBlocker(({ currentLocation, nextLocation }) =>
    !isSafe && currentLocation.pathname !== nextLocation.pathname
  );
  const isAsking = blocker.state === "blocked";
  // A saved form leads to another page before it knows that it has been saved.
  useEffect(() => {
    if (isAsking && isSafe) blocker.proceed?.();
  }, [isAsking, isSafe]);
  useEffect(() => {
    if (isSafe) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isSafe]);
  return (
    <Confirm
      isOpen={isAsking && !isSafe}
      title="Leave without saving?"
      content="Your changes are lost when you leave."
      confirm="Leave"
      confirmColor="warning"
      cancel="Stay"
      onConfirm={() => blocker.proceed?.()}
      onClose={() => blocker.reset?.()}
    />
  );
}
