import { moneyText } from "../words/format.ts";
import { words } from "../words/words.ts";

/** From this share of the limit on the meter warns. */
const nearShare = 0.8;

/** The limit of what a task may cost, and how much of it is spent. */
export function OfLimit({ usd, limit }: { readonly usd: number; readonly limit: number }) {
  const share = limit === 0 ? 0 : Math.min(1, usd / limit);
  return (
    <>
      <span class="t3">{words().run.ofLimit(moneyText(limit))}</span>
      <span class="meter">
        <i class={share >= nearShare ? "near" : ""} style={{ width: `${100 * share}%` }} />
      </span>
    </>
  );
}
