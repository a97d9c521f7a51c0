const reasons = new Set<() => string>();

/** Until the returned function is called, `Framework.health()` is not ready. */
export function delayReadiness(reason: () => string): () => void {
  // A copy, because a set would keep equal functions only once.
  const own = () => reason();
  reasons.add(own);
  return () => void reasons.delete(own);
}

export function reasonsToWait(): string[] {
  return [...reasons].map((reason) => reason());
}
