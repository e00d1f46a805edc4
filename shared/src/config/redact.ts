const secretKeys: ReadonlySet<string> = new Set(["api_key", "token", "password", "daytona_api_key", "VNC_password"]);

/** Whether the value at this path is a secret, which no output ever shows. */
export function isSecret(path: readonly string[]): boolean {
  return secretKeys.has(path.at(-1) ?? "");
}

/**
 * A value as it may be shown: secrets by their length alone, and URLs without the user and password
 * inside them.
 */
export function redacted(path: readonly string[], value: unknown): string {
  if (isSecret(path)) return `(secret, ${String(value).length} characters)`;
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  return shown.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/@\s]+@/gi, "$1(secret)@");
}
