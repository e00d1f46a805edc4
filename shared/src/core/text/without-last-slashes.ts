/**
 * A URL or path without the slashes at its end. Looks at each character once, whoever wrote them.
 */
export function withoutLastSlashes(address: string): string {
  return address.replace(/(?<!\/)\/+$/, "");
}
