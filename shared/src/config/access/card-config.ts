import { resolve } from "node:path";
import type { CardDemand } from "../../a2a/signing/card-demand.ts";
import type { Sections } from "../sections/sections.ts";

/** What is demanded of an agent's card, and the absolute path of a JWK set that may sign it. */
export type CardConfig = { readonly demand: CardDemand; readonly keys: string | undefined };

type CardTable = { readonly card_policy?: CardDemand | undefined; readonly card_keys?: string | undefined };

/**
 * What a table demands of its agent's card; where it is silent, `[a2a]` and `[gateway]` decide. To
 * name keys is to demand a signature, unless the policy says otherwise.
 */
export function cardConfig(
  table: CardTable,
  { a2a, gateway }: Pick<Sections, "a2a" | "gateway">,
  cwd: string,
): CardConfig {
  const whenNamed = (keys: string | undefined) => (keys === undefined ? undefined : "must-be-signed");
  const keys = table.card_keys ?? gateway.card_keys;
  return {
    demand:
      table.card_policy ?? whenNamed(table.card_keys) ?? a2a.card_policy ?? whenNamed(gateway.card_keys) ?? "unsigned",
    keys: keys === undefined ? undefined : resolve(cwd, keys),
  };
}
