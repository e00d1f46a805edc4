/** The system's name for what went wrong (`ENOENT`), when the error came from the system. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Undefined for a file that is not there; throws anything else. For `catch`. */
export function unlessMissing(error: unknown): undefined {
  if (errnoOf(error) === "ENOENT") return undefined;
  throw error;
}
