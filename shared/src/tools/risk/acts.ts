import type { Browsing } from "../../machine/browser/browser.ts";
import type { LoadingAnew } from "../../machine/browser/sent-documents.ts";
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
  /** The pages that receive a secret. */
  readonly secretsAt?: readonly URL[];
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
  const place = await placeOf(at, situation);
  return place === undefined ? {} : judgePress(place, situation, pointBits);
}

function judgePress(place: ActionTarget, { scope, browsing }: Situation, leastBits = 0): Judgement {
  const risk = judgeClick(place, scope, browsing?.sent.before(place));
  return { risk, prices: pricesOf(place, scope, leastBits), pressed: place };
}

/** `browser_download`: the file of a link or a button comes by a click. */
export async function judgeDownload(
  { ref }: { readonly ref?: string | undefined },
  situation: Situation,
): Promise<Judgement> {
  return ref === undefined ? {} : judgeClickOn({ ref }, situation);
}

/**
 * `browser_select_dropdown_option`. What a page draws itself is opened and chosen from by clicks,
 * wherever on the page the entry is.
 */
export async function judgeChoice(
  { ref, text }: { readonly ref: string; readonly text: string },
  situation: Situation,
): Promise<Judgement> {
  const place = await placeOf(ref, situation);
  if (place?.action.tag === "select" && !hasConsequence(text)) return { prices: pricesOf(place, situation.scope) };
  return judgeClickOn({ ref, text }, situation);
}

/** What is typed into a field, and how. */
type Typing = { readonly ref: string; readonly text: string; readonly clear: boolean; readonly submit: boolean };

/** `browser_input_text`. */
export async function judgeInput({ ref, text, clear, submit }: Typing, situation: Situation): Promise<Judgement> {
  const place = await placeOf(ref, situation);
  if (place === undefined) return {};
  const typed = judgeTyping(place, situation.scope, { ...situation.words, text });
  // A text that is appended is typed: a line break in it presses Enter.
  const presses = submit || (!clear && /[\r\n]/.test(text));
  const risk = typed ?? (presses ? judgeEnter(place, situation.scope) : undefined);
  return { risk, secretsAt: secretsAmong([place]) };
}

/** The addresses of the documents with fields for secrets. */
function secretsAmong(places: readonly (ActionTarget | undefined)[]): URL[] {
  return places.flatMap((place) => (place !== undefined && isSecret(place) ? (place.url ?? []) : []));
}

/** `browser_fill_form`. */
export async function judgeForm(
  { fields }: { readonly fields: readonly { readonly ref: string; readonly value: string | boolean }[] },
  situation: Situation,
): Promise<Judgement> {
  const { scope, words } = situation;
  const places = await Promise.all(fields.map(({ ref }) => placeOf(ref, situation)));
  const risks = places.map((place, at) => {
    if (place === undefined || place.action.tag === "select") return undefined;
    if (!place.action.takesText) return judgePress(place, situation).risk;
    return judgeTyping(place, scope, { ...words, text: String(fields[at]?.value) });
  });
  const chosen = places.flatMap((place) =>
    place === undefined || place.action.takesText ? [] : pricesOf(place, scope),
  );
  return {
    risk: [...new Set(risks.filter((risk) => risk !== undefined))].join("; ") || undefined,
    prices: chosen,
    secretsAt: secretsAmong(places),
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

/**
 * `browser_drag`: a drawn line is judged like written text, and a drag that ends on what it began
 * on like the click that it is.
 */
export async function judgeDrag(
  { from, to, through }: { readonly from: Where; readonly to: Where; readonly through: readonly Where[] },
  situation: Situation,
): Promise<Judgement> {
  const url = pageUrl(situation);
  if (through.length > 0 && isForeign(url, situation.scope)) return { risk: `Draw on ${hostOf(url)}${unnamed}` };
  const [start, goal] = await Promise.all([placeOf(from, situation), placeOf(to, situation)]);
  const prices = pricesOnPage(situation, 2 * pointBits);
  if (goal !== undefined && Bun.deepEquals(start?.action, goal.action))
    return { ...judgePress(goal, situation), prices };
  const said = goal && sayingOf(goal);
  const risk = said === undefined ? undefined : `Drop something on ${quoted(said)} on ${hostOf(goal?.url)}`;
  return { risk, prices };
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
 * Keys that only move the focus or the view, and those that are held with others. Any key beside
 * these and Enter may write, or paste what was copied elsewhere.
 */
const moving = /^(?:tab|escape|esc|arrow\w+|up|down|left|right|page(?:up|down)|pgup|pgdn|home|end|f\d+)$/i;
const held = /^(?:shift|control|ctrl|controlormeta|alt|meta|cmd)(?:left|right)?$/i;
const pressing = /^(?:enter|return|space|spacebar|numpadenter)$/i;
const keyBits = 4;

/** `browser_send_keys`. */
export async function judgeKeys({ keys }: { readonly keys: string }, situation: Situation): Promise<Judgement> {
  const { browsing, scope } = situation;
  const chords = keys.split(/\s+/);
  if (browsing === undefined) return {};
  // Each key of a chord goes down, one after the other.
  const pressed = chords.flatMap((chord) => chord.split(/\+(?=.)/));
  const told = Math.max(chords.length, pressed.filter((key) => !held.test(key)).length);
  const prices = pricesOnPage(situation, told * keyBits);
  if (pressed.every((key) => moving.test(key) || held.test(key))) return { prices };
  const place = await focusedPlace(browsing.browsing.active().page);
  if (place === undefined) return { prices };
  const presses = pressed.some((key) => pressing.test(key));
  // After a key that moves the focus, it is unknown what the next key would press.
  if (presses && pressed.some((key) => moving.test(key)))
    return {
      risk: `Press ${quoted(chords.join(" "))} on ${hostOf(place.url)}, which presses something not known yet`,
    };
  const writes = !pressed.every((key) => moving.test(key) || held.test(key) || pressing.test(key));
  const typed = writes ? (judgeTyping(place, scope) ?? judgeShortcut(place, scope)) : undefined;
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

/**
 * `browser_refresh`, `browser_go_back`, `browser_go_forward`: to load what was answered to a form
 * anew sends the form once more. A browser asks its user about that, whatever the form was for.
 */
export function judgeLoading(how: LoadingAnew): (_: object, situation: Situation) => Promise<Judgement> {
  return async (_, { browsing }) => {
    const sent = await browsing?.browsing.resends(how);
    if (sent === undefined) return {};
    const { host, pathname } = new URL(sent.url);
    return { risk: `Load a page of ${host} again, which sends its form once more: ${sent.method} ${quoted(pathname)}` };
  };
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

async function placeOf(where: Where, { browsing }: Situation): Promise<ActionTarget | undefined> {
  if (browsing === undefined) return undefined;
  if (typeof where === "string") return placeOfRef(browsing.browsing, browsing.looks, where);
  const { page } = browsing.browsing.active();
  const { scale } = browsing.looks;
  const factor = scale?.page === page ? scale.factor : 1;
  return placeAt(page, { x: where.x * factor, y: where.y * factor });
}
