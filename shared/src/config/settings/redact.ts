const secretKeys: ReadonlySet<string> = new Set([
  "api_key",
  "token",
  "secret",
  "client_secret",
  "subject",
  "password",
  "otlp_headers",
  "secret_access_key",
  "secret_key",
  "other_secret_keys",
  "session_token",
  "daytona_api_key",
  "VNC_password",
]);

/** Whether the value at this path is a secret, which no output ever shows. */
export function isSecret(path: readonly string[]): boolean {
  // Anyone who knows the address of an incoming webhook can write to it.
  return secretKeys.has(path.at(-1) ?? "") || (path[0] === "notify" && path.at(-1) === "url");
}

/** A value as it may be shown: secrets only by their length, and URLs without user and password. */
export function redacted(path: readonly string[], value: unknown): string {
  const isNone = Array.isArray(value) && value.length === 0;
  if (isSecret(path) && !isNone) return `(secret, ${String(value).length} characters)`;
  return withoutLogins(typeof value === "string" ? value : JSON.stringify(value));
}

/** A text whose URLs are without user and password. A password may have an `@` in it, unescaped. */
export function withoutLogins(text: string): string {
  return text.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/?#\s"]+@/gi, "$1(secret)@");
}
