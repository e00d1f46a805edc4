import { withoutLastSlashes } from "manyhands/internal/core/text/without-last-slashes";

/** The A2A address of a flow or an agent. */
export function adapterUrl(publicUrl: string, name: string): string {
  return `${withoutLastSlashes(publicUrl)}/a2a/${name}`;
}
