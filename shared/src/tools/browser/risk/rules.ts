import * as z from "zod";
import type { Browsing } from "../../../browser/browser.ts";
import { isOnForge } from "../../code/archive/archive-address.ts";
import { ref } from "../act/input.ts";
import { pageAddress } from "../act/page-address.ts";
import type { Looks } from "../looks.ts";
import { hasConsequence, tellsConsequence } from "./consequence.ts";
import {
  hostOf,
  isForeign,
  judgeClick,
  judgeEnter,
  judgeTyping,
  type Place,
  type ScopeToJudge,
  unnamed,
} from "./judge-deed.ts";
import { addressesNamedIn } from "./named-hosts.ts";
import { focusedPlace, placeAt, placeOfRef } from "./place-of.ts";
import { quoted } from "./quoted.ts";
import { mayOpen } from "./scope.ts";

/** What a rule judges by. `browsing` is undefined where no page is open. */
export type Situation = {
  readonly browsing: { readonly browsing: Browsing; readonly looks: Looks } | undefined;
  readonly scope: ScopeToJudge;
};

/** What calls of one tool are judged by: the addresses they would open, the texts they would write, and the risk beside that. */
export type Rule = {
  readonly opens?: (input: unknown) => readonly string[];
  readonly writes?: (input: unknown) => string;
  readonly judge?: (input: unknown, situation: Situation) => Promise<string | undefined>;
  /** Whether what comes back may be led by pages that were read elsewhere. */
  readonly reads?: boolean;
  /** Whether what the user sent may lead to such a call, so that none is the agent's own choice, even before anything was read. */
  readonly led?: boolean;
};

const address = z.looseObject({ url: pageAddress });
const addresses = z.looseObject({
  url: z.string().optional(),
  urls: z.union([z.string(), z.array(z.string())]).optional(),
});
const clicking = z.looseObject({ ref, text: z.string().optional() });
const typing = z.looseObject({ ref, text: z.string(), submit: z.boolean().optional() });
const form = z.looseObject({ fields: z.array(z.looseObject({ ref, value: z.unknown() })) });
const keys = z.looseObject({ keys: z.string() });
const point = z.looseObject({ x: z.number(), y: z.number() });
const upload = z.looseObject({ ref, paths: z.array(z.string()) });
const dialog = z.looseObject({ accept: z.boolean(), text: z.string().optional() });
const query = z.looseObject({ query: z.string() });
const lent = z.looseObject({ task: z.string() });

const opensOne: Rule = { opens: (input) => [address.safeParse(input).data?.url ?? []].flat() };
const asksFor: Rule = { writes: (input) => query.safeParse(input).data?.query ?? "" };

/** The rules by tool; a tool without one is not risky. */
export const rules: Readonly<Record<string, Rule>> = {
  browser_go_to_url: opensOne,
  browser_open_tab: opensOne,
  browser_download: opensOne,
  browser_web_search: asksFor,
  web_search: asksFor,
  // Where another agent is sent, this one goes.
  delegate: { opens: (input) => addressesNamedIn(lent.safeParse(input).data?.task ?? ""), reads: true },
  clone_repository: {
    opens: (input) => [address.safeParse(input).data?.url ?? []].flat().filter((url) => !isOnForge(url)),
    reads: true,
    led: true,
  },
  web_fetch: {
    opens(input) {
      const parsed = addresses.safeParse(input).data;
      return [parsed?.url ?? [], parsed?.urls ?? []].flat().map((url) => url.trim());
    },
  },
  browser_click_element: {
    async judge(input, situation) {
      const { ref, text } = clicking.safeParse(input).data ?? {};
      return onRef(ref, situation, ({ name, ...place }, scope) =>
        judgeClick({ ...place, name: text !== undefined && hasConsequence(text) ? text : (name ?? "") }, scope),
      );
    },
  },
  browser_click_at: { judge: judgeClickAt },
  browser_input_text: {
    writes: (input) => typing.safeParse(input).data?.text ?? "",
    async judge(input, situation) {
      const { ref, submit } = typing.safeParse(input).data ?? {};
      const typed = await onRef(ref, situation, judgeTyping);
      return typed ?? (submit ? onRef(ref, situation, judgeEnter) : undefined);
    },
  },
  browser_fill_form: {
    writes: (input) => (form.safeParse(input).data?.fields ?? []).map(({ value }) => String(value)).join("\n"),
    async judge(input, situation) {
      const refs = form.safeParse(input).data?.fields.map(({ ref }) => ref) ?? [];
      const risks = await Promise.all(refs.map((ref) => onRef(ref, situation, judgeTyping)));
      return [...new Set(risks.filter((risk) => risk !== undefined))].join("; ") || undefined;
    },
  },
  browser_send_keys: { judge: judgeKeys },
  browser_upload: {
    async judge(input, { browsing }) {
      const parsed = upload.safeParse(input).data;
      if (parsed === undefined || browsing === undefined) return undefined;
      const place = await placeOfRef(browsing.browsing, browsing.looks, parsed.ref);
      return place && `Upload ${parsed.paths.map(quoted).join(", ")} to ${hostOf(place.url)}`;
    },
  },
  browser_handle_dialog: { writes: (input) => dialog.safeParse(input).data?.text ?? "", judge: judgeDialog },
};

/** The first of these addresses that needs a person, in a sentence. */
export function judgeOpening(urls: readonly string[], scope: ScopeToJudge): string | undefined {
  const foreign = urls.filter((text) => {
    const url = URL.parse(text);
    return scope !== undefined && url !== null && !mayOpen(url, scope);
  });
  const more = foreign.length > 1 ? ` and ${foreign.length - 1} more addresses` : "";
  return foreign[0] === undefined ? undefined : `Open ${quoted(foreign[0])}${more}, which you did not name`;
}

async function onRef(
  ref: string | undefined,
  { browsing, scope }: Situation,
  judge: (place: Place, scope: ScopeToJudge) => string | undefined,
): Promise<string | undefined> {
  if (ref === undefined || browsing === undefined) return undefined;
  const place = await placeOfRef(browsing.browsing, browsing.looks, ref);
  return place && judge(place, scope);
}

async function judgeClickAt(input: unknown, { browsing, scope }: Situation): Promise<string | undefined> {
  const at = point.safeParse(input).data;
  if (at === undefined || browsing === undefined) return undefined;
  const { page } = browsing.browsing.active();
  const { scale } = browsing.looks;
  const factor = scale?.page === page ? scale.factor : 1;
  const place = await placeAt(page, { x: at.x * factor, y: at.y * factor });
  return place && judgeClick(place, scope);
}

/** Keys that only move about; any other may write, or paste what was copied elsewhere. */
const moving =
  /^(?:(?:shift|control|ctrl|alt|meta|cmd)\+)*(?:tab|escape|esc|arrow\w+|up|down|left|right|page(?:up|down)|pgup|pgdn|home|end|f\d+)$/i;
const pressing = /^(?:enter|return|space|spacebar|numpadenter)$/i;

async function judgeKeys(input: unknown, { browsing, scope }: Situation): Promise<string | undefined> {
  const chords = keys.safeParse(input).data?.keys.trim().split(/\s+/) ?? [];
  if (browsing === undefined || chords.every((chord) => moving.test(chord))) return undefined;
  const place = await focusedPlace(browsing.browsing.active().page);
  if (place === undefined) return undefined;
  // After a key that moves the focus, what the next one would press cannot be seen.
  if (chords.length > 1 && chords.some((chord) => moving.test(chord)) && chords.some((chord) => pressing.test(chord)))
    return `Press ${quoted(chords.join(" "))} on ${hostOf(place.url)}, which presses something not known yet`;
  const typed = chords.every((chord) => moving.test(chord) || pressing.test(chord))
    ? undefined
    : judgeTyping(place, scope);
  return typed ?? (chords.some((chord) => pressing.test(chord)) ? judgeEnter(place, scope) : undefined);
}

async function judgeDialog(input: unknown, { browsing, scope }: Situation): Promise<string | undefined> {
  const parsed = dialog.safeParse(input).data;
  const open = browsing?.browsing.dialog();
  if (parsed === undefined || open === undefined || !parsed.accept) return undefined;
  const url = URL.parse(browsing?.browsing.active().page.url() ?? "") ?? undefined;
  if (parsed.text !== undefined && parsed.text !== "" && isForeign(url, scope))
    return `Answer ${quoted(open.message)} on ${hostOf(url)} with a text${unnamed}`;
  return tellsConsequence(open.message) ? `Answer ${quoted(open.message)} on ${hostOf(url)} with OK` : undefined;
}
