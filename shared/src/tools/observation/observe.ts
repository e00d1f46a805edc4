import type { ImagePart } from "../../core/model.ts";
import type { Observation } from "../../core/tools/tool.ts";
import type { Browsing } from "../../machine/browser/browser.ts";
import { estimateText } from "../../models/tokens.ts";
import { passedText } from "./between-acts.ts";
import { type SnapshotState, type SnapshotStates, untoldNotices } from "./elements/snapshot-state.ts";
import type { Detail } from "./lines.ts";
import { withoutRefs } from "./lines-text.ts";
import { lookAt, type PageLook, settle } from "./look.ts";
import { bodyOf, headerOf, type LookLines, linesOfLook, notesOf } from "./look-text.ts";
import { briefOf, briefOfChanges } from "./page-brief.ts";
import { changesText, continues, differenceOf, documentOf, toldWith } from "./page-changes.ts";
import { photograph } from "./photograph.ts";
import { type PictureCells, showsSame } from "./picture-cells.ts";
import type { ToldPage } from "./told-page.ts";

/** How to make an observation: whether the model accepts images, and how many tokens there are. */
export type ObservationOptions = {
  readonly looks: SnapshotStates;
  readonly vision: boolean;
  readonly tokens?: number;
  /** The mark of the observation that the conversation has, with those it continues. */
  readonly since?: string | undefined;
  /** Further lines about the page, above its outline. */
  readonly about?: readonly string[];
  readonly signal: AbortSignal;
};

/** Tokens of a whole page by default. */
const observationTokens = 1_150;
const lookMs = 10_000;
/** Tokens that the words around an outline may take. */
const aroundTokens = 120;
/**
 * Changes that take more than this share of the whole page's tokens are not worth telling apart.
 */
const maxChanged = 0.7;
/** The same for a page that was loaded anew: then what was told of it before can be folded. */
const maxLoaded = 0.5;
/** The same where the whole page would come with a picture that the conversation has. */
const maxBesidePicture = 2;

/**
 * The active page as a model sees it before it acts: whole when it is new to the conversation,
 * after that what has changed since, also where it was loaded anew. What the acts of the turn
 * changed in between is told too. Undefined when nothing is new. Rejects as `Browsing.act` does.
 */
export async function observe(browsing: Browsing, options: ObservationOptions): Promise<Observation | undefined> {
  const { looks: states, vision, since, about = [], signal } = options;
  const looks = states.of(browsing);
  const base = looks.told.get(since ?? "");
  const { snapshot, between } = looks;
  looks.snapshot = undefined;
  looks.between = [];
  looks.changed = false;
  looks.untold = looks.untold.filter((notice) => !base?.notices.includes(notice));
  await settle(browsing, looks, signal);
  const look = await lookAt(browsing, looks, { signal, timeoutMs: lookMs, tellsChanges: true });
  const notices = untoldNotices(browsing, looks);
  const told = {
    header: headerOf(browsing, look, [...about, ...lastingText(looks, look)]),
    notices,
    picture: base?.picture,
  };
  if (look === undefined) {
    // The header ends with the dialog.
    const isTold = base !== undefined && looks.toldDialog !== undefined && browsing.dialog() === looks.toldDialog;
    const seen = heldUp(looks, isTold ? { ...told, header: told.header.slice(0, -1) } : told, base && { base, since });
    return keeping(seen, notesOf(notices));
  }
  const taken = vision && isDrawn(look) ? await photograph(browsing, looks, look.measure.grid, signal) : undefined;
  const page = {
    look,
    told: taken === undefined ? told : { ...told, picture: pictureAfter(base?.picture, taken.cells) },
    image: taken?.image,
  };
  const seen = seenOf(looks, page, { ...options, base, snapshot });
  return withPassed(keeping(seen, notesOf(notices)), passedText(look, between, { base, snapshot }), since);
}

/** That a page had not loaded all when it was looked at. */
function lastingText({ lasting }: SnapshotState, look: PageLook | undefined): string[] {
  if (lasting === undefined || lasting.url !== look?.url) return [];
  const how = lasting.sign.startsWith('"') ? `, with gone: ${lasting.sign},` : "";
  return [`The page is still loading: it shows ${lasting.sign}. browser_wait${how} waits for the rest.`];
}

/** An observation with what a page said in between. */
function withPassed(seen: Observation | undefined, passed: string, since: string | undefined): Observation | undefined {
  if (passed === "") return seen;
  const text = seen === undefined ? passed : `${seen.text}\n${passed}`;
  return keeping({ ...(seen ?? (since !== undefined && { since })), text }, [passed]);
}

/** An observation of which these lines stay when it is folded: they were told once. */
function keeping<Seen extends Observation | undefined>(seen: Seen, lines: readonly string[]): Seen {
  if (seen === undefined || lines.length === 0) return seen;
  return { ...seen, brief: [...(seen.brief ? [seen.brief] : []), ...lines].join("\n") };
}

/** A page whole, or what is new of it, since an observation or what a result told whole. */
function seenOf(
  looks: SnapshotState,
  page: Omit<SeenPage, "lines">,
  {
    base,
    snapshot,
    since,
    tokens = observationTokens,
  }: Pick<ObservationOptions, "since" | "tokens"> & {
    readonly base: ToldPage | undefined;
    readonly snapshot: ToldPage | undefined;
  },
): Observation | undefined {
  const { look, told, image } = page;
  const lines = (detail?: Detail, how?: { known?: ReadonlySet<string>; behind?: boolean }) =>
    linesOfLook(look, tokens - aroundTokens, detail, how);
  const whole = (shown: LookLines) => [...told.header, ...notesOf(told.notices), bodyOf(look, shown)].join("\n");
  if (snapshot !== undefined && continues(look, snapshot)) {
    const shown = lines(snapshot.detail);
    const known = { ...snapshot, picture: base?.picture };
    const isOld = base !== undefined && continues(look, base) && !differs({ ...page, lines: lines(base.detail) }, base);
    return isOld ? undefined : sinceSnapshot(looks, { ...page, lines: shown }, { base: known, since: base && since });
  }
  if (base !== undefined && continues(look, base)) {
    const shown = lines(base.detail, { known: new Set(base.lines) });
    const isDrawnAlike = image !== undefined && isSame(base.picture, told.picture);
    const most = isDrawnAlike ? maxBesidePicture : base.document === documentOf(look) ? maxChanged : maxLoaded;
    const room = most * estimateText(whole(lines(base.detail, { behind: true })));
    const changes = changesOf(looks, { ...page, lines: shown }, { base, since }, room);
    if (changes !== "too many") return changes;
  }
  // What an act opened is not to be left out for what was told already.
  const known = new Set(base !== undefined && continues(look, base) ? base.lines.map(withoutRefs) : []);
  const shown = lines(base?.document === documentOf(look) ? base.detail : undefined, { known });
  const mark = remember(looks, toldWith(look, shown, told));
  return { text: whole(shown), mark, brief: briefOf(look), ...(image && { images: [image] }) };
}

type SeenPage = {
  readonly look: PageLook;
  readonly lines: LookLines;
  readonly told: Pick<ToldPage, "header" | "notices" | "picture">;
  readonly image: ImagePart | undefined;
};
type Base = { readonly base: ToldPage; readonly since: string | undefined };

/** What has changed since an earlier observation of the same document, within so many tokens. */
function changesOf(
  looks: SnapshotState,
  { look, lines, told, image }: SeenPage,
  { base, since }: Base,
  tokens: number,
): Observation | undefined | "too many" {
  const { difference, text, isNew } = changeOf({ look, lines, told, image }, base);
  if (text === "" && !isNew) return undefined;
  if (estimateText(text) > tokens) return "too many";
  const brief = briefOfChanges(look, lines, difference);
  return {
    text: text === "" ? "Only the picture of the page has changed." : text,
    mark: remember(looks, toldWith(look, lines, told, { base, difference })),
    ...(since !== undefined && { since }),
    ...(brief !== "" && { brief }),
    ...(isNew && image && { images: [image] }),
  };
}

/** What differs from what is known, as text, and whether there is another picture of it. */
function changeOf({ look, lines, told, image }: SeenPage, base: ToldPage) {
  const difference = differenceOf(look, lines, base);
  const changes = changesText(look, lines, { base, difference, header: told.header });
  const text = [changes, ...notesOf(told.notices)].filter((part) => part !== "").join("\n");
  return { difference, text, isNew: image !== undefined && !isSame(base.picture, told.picture) };
}

/** What is known of drawings: where something lies over them now, what was there before. */
function pictureAfter(before: PictureCells | undefined, now: PictureCells | undefined): PictureCells | undefined {
  return now !== undefined && isSame(before, now) ? new Map([...(before ?? []), ...now]) : now;
}

function isSame(before: PictureCells | undefined, now: PictureCells | undefined): boolean {
  return before !== undefined && now !== undefined && showsSame(before, now);
}

function differs(page: SeenPage, base: ToldPage): boolean {
  const { text, isNew } = changeOf(page, base);
  return text !== "" || isNew;
}

/**
 * What differs from the page that a result has just told whole; a mark to build upon in any case.
 */
function sinceSnapshot(looks: SnapshotState, page: SeenPage, { base, since }: Base): Observation {
  const { look, lines, told, image } = page;
  const { difference, text, isNew } = changeOf(page, base);
  const mark = remember(looks, toldWith(look, lines, told, { base, difference }));
  return {
    text: text === "" ? "The page is as browser_snapshot shows it." : text,
    mark,
    ...(since !== undefined && { since }),
    brief: briefOf(look),
    ...(isNew && image && { images: [image] }),
  };
}

/** A page that a dialog holds up cannot be looked at; what is known of it stays known. */
function heldUp(
  looks: SnapshotState,
  { header, notices }: Pick<ToldPage, "header" | "notices">,
  known: Base | undefined,
): Observation | undefined {
  const fresh = header.filter((line) => known?.base.header.includes(line) !== true);
  const text = [...fresh, ...notesOf(notices)].join("\n");
  if (known === undefined) return { text };
  if (text === "") return undefined;
  const mark = remember(looks, { ...known.base, header, notices });
  return { text, mark, ...(known.since !== undefined && { since: known.since }) };
}

const fewItems = 3;
const manyElements = 30;

/**
 * Whether a picture says more than the text: something is drawn, or little of the page has words.
 */
function isDrawn({ measure, items }: PageLook): boolean {
  return measure.isDrawn || (measure.elements > manyElements && items.length < fewItems && items.every(isLeaf));
}

function isLeaf({ children }: PageLook["items"][number]): boolean {
  return children.length === 0;
}

const maxTold = 4;

/** Keeps what an observation tells until later ones build upon it; returns its mark. */
function remember(looks: SnapshotState, told: ToldPage): string {
  const mark = crypto.randomUUID().slice(0, 8);
  looks.told.set(mark, told);
  const [oldest = ""] = looks.told.keys();
  if (looks.told.size > maxTold) looks.told.delete(oldest);
  return mark;
}
