import type { Browsing } from "../../machine/browser/browser.ts";
import type { SnapshotState } from "../observation/elements/snapshot-state.ts";
import { hasConsequence, tellsConsequence } from "./consequence.ts";
import {
  type ActionTarget,
  hostOf,
  isForeign,
  isSecret,
  judgeClick,
  judgeEnter,
  judgeTyping,
  pricesOf,
  quoted,
  type ScopeToJudge,
  sayingOf,
  type UserWords,
  unnamed,
} from "./judge-action.ts";
import { focusedPlace, placeAt, placeOfRef } from "./place-of.ts";
import { type Price, siteOf } from "./scope.ts";
import type { SentBook } from "./sent-book.ts";

/** What an act is judged by. `browsing` is undefined when no page is open. */
export type Situation = {
  readonly browsing:
    | { readonly browsing: Browsing; readonly looks: SnapshotState; readonly sent: SentBook }
    | undefined;
  readonly scope: ScopeToJudge;
  readonly words: UserWords;
};

/**
 * Why a person should decide about an act, what the act reveals to the host it acts on, and which
 * element it presses, if any.
 */
export type Judgement = {
  readonly risk?: string | undefined;
  readonly prices?: readonly Price[];
  readonly pressed?: ActionTarget | undefined;
  /** The page that receives a secret. */
  readonly secretAt?: URL | undefined;
};

/** The information in a point of a window of usual size, in bits. */
const pointBits = 20;

/** Where something is, as its tool accepts it: a ref, or a point. */
type Where = string | { readonly x: number; readonly y: number };

/** `browser_click_element`; the words to click on are judged like a name. */
export async function judgeClickOn(
  { ref, text }: { readonly ref: string; readonly text?: string | undefined },
  situation: Situation,
): Promise<Judgement> {
  const place = await placeOf(ref, situation);
  if (place === undefined) return {};
  const name = text !== undefined && hasConsequence(text) ? text : (place.name ?? "");
  return judgePress({ ...place, name }, situation);
}

/** `browser_click_at`. */
export async function judgeClickAt(
  at: { readonly x: number; readonly y: number },
  situation: Situation,
): Promise<Judgement> {
  const { browsing } = situation;
  if (browsing === undefined) return {};
  const { page } = browsing.browsing.active();
  const { scale } = browsing.looks;
  const factor = scale?.page === page ? scale.factor : 1;
  const place = await placeAt(page, { x: at.x * factor, y: at.y * factor });
  return place === undefined ? {} : judgePress(place, situation, pointBits);
}

function judgePress(place: ActionTarget, { scope, browsing }: Situation, leastBits = 0): Judgement {
  const risk = judgeClick(place, scope, browsing?.sent.before(place));
  return { risk, prices: pricesOf(place, scope, leastBits), pressed: place };
}

/** `browser_input_text`. */
export async function judgeInput(
  { ref, text, submit }: { readonly ref: string; readonly text: string; readonly submit: boolean },
  situation: Situation,
): Promise<Judgement> {
  const place = await placeOf(ref, situation);
  if (place === undefined) return {};
  const typed = judgeTyping(place, situation.scope, { ...situation.words, text });
  const risk = typed ?? (submit ? judgeEnter(place, situation.scope) : undefined);
  return { risk, secretAt: isSecret(place) ? place.url : undefined };
}

/** `browser_fill_form`. */
export async function judgeForm(
  { fields }: { readonly fields: readonly { readonly ref: string; readonly value: string | boolean }[] },
  situation: Situation,
): Promise<Judgement> {
  const { scope, words } = situation;
  const places = await Promise.all(fields.map(({ ref }) => placeOf(ref, situation)));
  const risks = places.map(
    (place, at) => place && judgeTyping(place, scope, { ...words, text: String(fields[at]?.value) }),
  );
  const chosen = places.flatMap((place) =>
    place === undefined || place.action.takesText ? [] : pricesOf(place, scope),
  );
  const secretAt = places.find((place) => place !== undefined && isSecret(place))?.url;
  return {
    risk: [...new Set(risks.filter((risk) => risk !== undefined))].join("; ") || undefined,
    prices: chosen,
    secretAt,
  };
}

/** Judges a tool that points at an element, or chooses by pointing. */
export async function judgePointing({ ref }: { readonly ref: Where }, situation: Situation): Promise<Judgement> {
  if (typeof ref === "string") {
    const place = await placeOf(ref, situation);
    return place === undefined ? {} : { prices: pricesOf(place, situation.scope) };
  }
  return { prices: pricesOnPage(situation, pointBits) };
}

/** `browser_drag`: a drawn line is judged like written text. */
export async function judgeDrag(
  { to, through }: { readonly to: Where; readonly through: readonly Where[] },
  situation: Situation,
): Promise<Judgement> {
  const url = pageUrl(situation);
  if (through.length > 0 && isForeign(url, situation.scope)) return { risk: `Draw on ${hostOf(url)}${unnamed}` };
  const goal = typeof to === "string" ? await placeOf(to, situation) : undefined;
  const said = goal && sayingOf(goal);
  const risk = said === undefined ? undefined : `Drop something on ${quoted(said)} on ${hostOf(goal?.url)}`;
  return { risk, prices: pricesOnPage(situation, 2 * pointBits) };
}

/** `browser_upload`. */
export async function judgeUpload(
  { ref, paths }: { readonly ref: string; readonly paths: readonly string[] },
  situation: Situation,
): Promise<Judgement> {
  const place = await placeOf(ref, situation);
  if (place === undefined) return {};
  return { risk: `Upload ${paths.map(quoted).join(", ")} to ${hostOf(place.url)}` };
}

/**
 * Keys that only move the focus or the view. Any other key may write, or paste what was copied
 * elsewhere.
 */
const moving =
  /^(?:(?:shift|control|ctrl|alt|meta|cmd)\+)*(?:tab|escape|esc|arrow\w+|up|down|left|right|page(?:up|down)|pgup|pgdn|home|end|f\d+)$/i;
const pressing = /^(?:enter|return|space|spacebar|numpadenter)$/i;
const chordBits = 4;

/** `browser_send_keys`. */
export async function judgeKeys({ keys }: { readonly keys: string }, situation: Situation): Promise<Judgement> {
  const { browsing, scope } = situation;
  const chords = keys.split(/\s+/);
  if (browsing === undefined) return {};
  const prices = pricesOnPage(situation, chords.length * chordBits);
  if (chords.every((chord) => moving.test(chord))) return { prices };
  const place = await focusedPlace(browsing.browsing.active().page);
  if (place === undefined) return { prices };
  // After a key that moves the focus, it is unknown what the next key would press.
  if (chords.length > 1 && chords.some((chord) => moving.test(chord)) && chords.some((chord) => pressing.test(chord)))
    return {
      risk: `Press ${quoted(chords.join(" "))} on ${hostOf(place.url)}, which presses something not known yet`,
    };
  const writes = !chords.every((chord) => moving.test(chord) || pressing.test(chord));
  const typed = writes ? (judgeTyping(place, scope) ?? judgeShortcut(place, scope)) : undefined;
  const presses = chords.some((chord) => pressing.test(chord));
  return { risk: typed ?? (presses ? judgeEnter(place, scope) : undefined), prices };
}

/** The page's scripts receive keys pressed where nothing takes text. */
function judgeShortcut({ url }: ActionTarget, scope: ScopeToJudge): string | undefined {
  return isForeign(url, scope) ? `Press keys on ${hostOf(url)}${unnamed}` : undefined;
}

/** `browser_handle_dialog`. */
export async function judgeDialog(
  { accept, text = "" }: { readonly accept: boolean; readonly text?: string | undefined },
  { browsing, scope }: Situation,
): Promise<Judgement> {
  const open = browsing?.browsing.dialog();
  if (open === undefined || !accept) return {};
  const url = URL.parse(browsing?.browsing.active().page.url() ?? "") ?? undefined;
  if (text !== "" && isForeign(url, scope))
    return { risk: `Answer ${quoted(open.message)} on ${hostOf(url)} with a text${unnamed}` };
  if (!tellsConsequence(open.message)) return {};
  return { risk: `Answer ${quoted(open.message)} on ${hostOf(url)} with OK` };
}

/** What acting anywhere on the open page reveals to its host, when nobody named that host. */
function pricesOnPage(situation: Situation, bits: number): Price[] {
  const url = pageUrl(situation);
  return url !== undefined && isForeign(url, situation.scope) ? [{ site: siteOf(url), bits }] : [];
}

function pageUrl({ browsing }: Situation): URL | undefined {
  const url = URL.parse(browsing?.browsing.active().page.url() ?? "");
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

function placeOf(ref: string, { browsing }: Situation): Promise<ActionTarget | undefined> {
  return browsing === undefined ? Promise.resolve(undefined) : placeOfRef(browsing.browsing, browsing.looks, ref);
}
