import { consequenceInCode, hasConsequence, movesInCode } from "./consequence.ts";
import type { Marks, ReadAction } from "./read-action.ts";
import { isInScope, isNamed, type Price, siteOf, type TrustScope } from "./scope.ts";
import { secretAskedFor } from "./secret-field.ts";

/** What an element is and does, according to the page's words and its code. */
export type PageAction = ReadAction & Marks;

/**
 * An element of a page, and the address of its document; undefined when the document has none, such
 * as an empty page.
 */
export type ActionTarget = { readonly action: PageAction; readonly url: URL | undefined; readonly name?: string };

/** The scope that acts are judged by; undefined when scope is not judged. */
export type ScopeToJudge = TrustScope | undefined;

/** What the user said, and the hosts of the configuration. */
export type UserWords = Pick<TrustScope, "said" | "trusted">;

/** A text to type, with the words that may permit it. */
export type TypedText = UserWords & { readonly text: string };

/**
 * What a page did when a similar element was pressed before: the method and path of a request that
 * did more than read.
 */
export type SentBefore = { readonly method: string; readonly path: string };

/**
 * Why a person should decide about a click. The reasons: the element's words or code announce
 * consequences; nothing says what the element is; it sent something when it was clicked before; or
 * it sends a form to a host out of scope.
 */
export function judgeClick(place: ActionTarget, scope: ScopeToJudge, sent?: SentBefore): string | undefined {
  const { action, url, name = "" } = place;
  const words = [name, ...action.words];
  const on = hostOf(url);
  const said = words.find(hasConsequence);
  if (said !== undefined) return `Click ${quoted(said)} on ${on}`;
  const called = quoted(words.find((word) => word !== "") ?? action.tag);
  if (sent !== undefined && (sent.method === "DELETE" || !isWorded(place)))
    return `Click ${called} on ${on}, which sent something when it was clicked before: ${sent.method} ${quoted(sent.path)}`;
  if (action.takesText) return undefined;
  if (action.leads === "" || !isWorded(place)) {
    const mark = consequenceInCode(action.marks);
    if (mark !== undefined) return `Click ${called} on ${on}, which the page calls ${quoted(mark)}`;
  }
  if (action.sends?.method === "post" && words.every((word) => word === "" || bareYes.test(word)))
    return `Click ${called} on ${on}, which sends a form and does not say what for`;
  if (isNameless(place)) return `Click something without a name on ${on}; what it does cannot be told`;
  return judgeSending(place, scope);
}

const bareYes = /^(?:ok(?:ay)?|yes|ja|oui|s[ií]|да|是|はい|예|✓|✔|→|➜|»|>)[.!]?$/iu;

/** Whether the element has a name that a person can read. */
function isWorded({ action, name = "" }: ActionTarget): boolean {
  return [name, ...action.words].some((word) => /\p{L}{2}/u.test(word));
}

/**
 * Whether the element can be pressed and neither words nor code say what it is. Links do not count:
 * their address says where they lead.
 */
function isNameless(place: ActionTarget): boolean {
  const { action } = place;
  if (!action.isPressed || action.leads !== "" || silent.test(action.tag) || chosen.test(action.type)) return false;
  return !movesInCode(action.marks) && [place.name ?? "", ...action.words].every(isDrawn);
}

/** People click drawings for what is drawn there, and choose options by how they look. */
const silent = /^(?:canvas|video|select|option|html|body)$/;
const chosen = /^(?:checkbox|radio|range|color|file)$/;

/** Whether a text is only a symbol; a number or letter is clear enough. */
function isDrawn(word: string): boolean {
  return !/[\p{L}\p{N}]/u.test(word) && !/^[×✕✖<>‹›«»←→↑↓▲▼◀▶+\-−–—…⋮⋯☰≡]+$/u.test(word);
}

/**
 * Why a person should decide about writing into a field: it is for secrets, or its host is out of
 * scope. A secret that the user gave may be written where the user said; what is then sent with it
 * is judged when it is sent. Fields that take no text are judged as clicked.
 */
export function judgeTyping(place: ActionTarget, scope: ScopeToJudge, given?: TypedText): string | undefined {
  const { action, url } = place;
  if (!action.takesText) return undefined;
  const called = quoted(wordsOf(place)[0] ?? action.names.find((one) => one !== "") ?? "a field");
  const secret = secretOf(place);
  const foreign = isForeign(url, scope);
  if (secret === undefined && !foreign) return undefined;
  if (secret !== undefined && isGivenFor(url, given, secret)) return undefined;
  const field = secret === undefined ? called : `the ${secret} field ${called}`;
  return `Type into ${field} on ${hostOf(url)}${foreign ? unnamed : ""}`;
}

const shortestGiven = 4;

/**
 * Whether the user gave this exact secret and named the site it is typed into. The figures of a
 * card may be grouped otherwise, and be as few as those of its month.
 */
function isGivenFor(
  url: URL | undefined,
  given: TypedText | undefined,
  secret: NonNullable<ReturnType<typeof secretAskedFor>>,
): boolean {
  if (url === undefined || given === undefined || !isNamed(url, given)) return false;
  const { said, text } = given;
  if (secret === "card") return said.some((words) => hasFigures(words, text));
  return text.length >= shortestGiven && said.some((words) => isIn(words, text));
}

const maxFigures = 40;

/**
 * Whether the letters and figures of a text stand together in words, however they are grouped
 * there; a year may have two figures of its four.
 */
function hasFigures(words: string, text: string): boolean {
  const figures = text.replaceAll(/[^\p{L}\p{N}]/gu, "");
  if (figures === "" || figures.length > maxFigures) return false;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${[...figures].join("[ ./-]{0,3}")}(?![\\p{L}\\p{N}])`, "u");
  return pattern.test(words) || pattern.test(words.replaceAll(/\b20(?=\d\d\b)/g, ""));
}

/** Whether an element is a field for a secret. */
export function isSecret(place: ActionTarget): boolean {
  return place.action.takesText && secretOf(place) !== undefined;
}

function secretOf(place: ActionTarget): ReturnType<typeof secretAskedFor> {
  return secretAskedFor({ ...place.action, words: [...wordsOf(place), ...place.action.names] });
}

function wordsOf({ action, name = "" }: ActionTarget): string[] {
  return [name, ...action.words].filter((word) => word !== "");
}

/** The words or code of an element that say that using it has consequences. */
export function sayingOf(place: ActionTarget): string | undefined {
  return wordsOf(place).find(hasConsequence) ?? consequenceInCode(place.action.marks);
}

/** Whether a text occurs in words as whole words, not as a part of a longer one. */
function isIn(words: string, text: string): boolean {
  const letter = /[\p{L}\p{N}]/u;
  for (let at = words.indexOf(text); at !== -1; at = words.indexOf(text, at + 1))
    if (!letter.test(words[at - 1] ?? "") && !letter.test(words[at + text.length] ?? "")) return true;
  return false;
}

/** Judges Enter: in a field it presses the form's button; on anything else it is a click. */
export function judgeEnter(place: ActionTarget, scope: ScopeToJudge): string | undefined {
  const { action, url } = place;
  if (!action.takesText) return judgeClick(place, scope);
  const said = action.sends?.button.find(hasConsequence) ?? (action.sends && consequenceInCode(action.marks));
  if (said !== undefined) return `Press Enter, which clicks ${quoted(said)} on ${hostOf(url)}`;
  return judgeSending(place, scope);
}

/**
 * What acting on an element reveals to its host, when nobody named that host: which of the page's
 * elements was chosen.
 */
export function pricesOf({ action, url }: ActionTarget, scope: ScopeToJudge, leastBits = 0): Price[] {
  const goal = URL.parse(action.leads) ?? url;
  if (goal === undefined || !isForeign(goal, scope)) return [];
  return [{ site: siteOf(goal), bits: Math.max(leastBits, Math.log2(action.ways + 1)) }];
}

/** Follows the name of a host that nobody has vouched for. */
export const unnamed = ", a host you did not name";

/** Why a person should decide about a form that goes to a host other than the page's own. */
function judgeSending({ action, url }: ActionTarget, scope: ScopeToJudge): string | undefined {
  if (action.sends === undefined || url === undefined) return undefined;
  const goal = URL.parse(action.sends.action, url.href);
  if (goal === null || goal.host === url.host || goal.protocol === "javascript:") return undefined;
  return isForeign(goal, scope) ? `Send a form of ${hostOf(url)} to ${hostOf(goal)}${unnamed}` : undefined;
}

/** Whether an address is out of scope; false when scope is not judged. */
export function isForeign(url: URL | undefined, scope: ScopeToJudge): boolean {
  return scope !== undefined && url !== undefined && !isInScope(url, scope);
}

/** A document's host, worded for a sentence. */
export function hostOf(url: URL | undefined): string {
  return url === undefined || url.host === "" ? "an empty page" : url.host;
}

const longest = 80;

/**
 * A page's or a model's words, made safe for a sentence a person decides by: one line, no invisible
 * characters, shortened, in quotation marks they cannot close.
 */
export function quoted(text: string): string {
  const visible = text
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .replaceAll(/[“”]/g, '"')
    .trim();
  const short = visible.length <= longest ? visible : `${visible.slice(0, longest - 1).toWellFormed()}…`;
  return `“${short}”`;
}
