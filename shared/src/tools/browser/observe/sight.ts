import type { ImagePart } from "../../../core/model.ts";
import type { Sight } from "../../../core/tool.ts";
import type { Browsing } from "../../../machine/browser/browser.ts";
import { type LookBook, untoldNotices } from "../looks.ts";
import { bodyOf } from "./body-of-look.ts";
import { headerOf } from "./describe-look.ts";
import { lookAt } from "./look.ts";
import { photograph } from "./photograph.ts";
import { settle } from "./settle.ts";

/** How a sight is made: whether the model sees images, and for how many tokens there is room. */
export type SightOptions = {
  readonly looks: LookBook;
  readonly vision: boolean;
  readonly tokens?: number;
  readonly signal: AbortSignal;
};

/** Tokens of a sight unless told otherwise. */
const sightTokens = 4_000;
const lookMs = 10_000;
/** What the words around an outline may take. */
const aroundTokens = 350;

/**
 * The active page as a model sees it before it acts: whole in itself, because it is not kept. What is new since the look before is marked, never
 * what is old left out. Rejects as `Browsing.act` does.
 */
export async function sightOf(
  browsing: Browsing,
  { looks: book, vision, tokens = sightTokens, signal }: SightOptions,
): Promise<Sight> {
  const looks = book.of(browsing);
  await settle(browsing, looks, signal);
  const look = await lookAt(browsing, looks, { signal, timeoutMs: lookMs });
  const header = headerOf(browsing, look, untoldNotices(browsing, looks));
  if (look === undefined) return { text: header };
  const body = bodyOf(look, looks, { tokens: tokens - aroundTokens, kept: false });
  const image = vision ? await photograph(browsing, looks, signal) : undefined;
  const images: ImagePart[] = image === undefined ? [] : [image];
  return { text: `${header}\n${body}`, images };
}
