import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Tool, ToolResult } from "../../../core/tools/tool.ts";
import { type SnapshotState, tellNotices } from "../../observation/elements/snapshot-state.ts";
import { itemWith } from "../../observation/item.ts";
import { linesOf } from "../../observation/lines.ts";
import { findLines, wholeText } from "../../observation/lines-text.ts";
import { heldUp, lookAt, type PageLook, settle } from "../../observation/look.ts";
import { bodyOf, headerOf, linesOfLook, notesOf } from "../../observation/look-text.ts";
import { briefOf } from "../../observation/page-brief.ts";
import { toldWith } from "../../observation/page-changes.ts";
import { asData } from "../../page/as-data.ts";
import { type BrowserDeps, browserTool } from "./browser-tool.ts";
import { ref } from "./input.ts";

/** A longer tool result is stored and cut. */
const resultTokens = 2_800;
const lookMs = 10_000;

/**
 * `browser_snapshot`: the page as text with refs; one part of it in full, or the places where a
 * text occurs.
 */
export function snapshotTool(deps: BrowserDeps): Tool {
  return browserTool(deps, {
    name: "browser_snapshot",
    description: "Shows the page as text with the refs (e12) of its elements.",
    effect: "pure",
    input: z.strictObject({
      expand: ref.optional().describe("Ref of a part to show whole."),
      find: z.string().trim().min(1).max(200).optional().describe("Shows only where this text is."),
      full: z.boolean().default(false).describe("All of it, from the top."),
      from: z.int().min(1).default(1).describe("With expand or full: first line."),
    }),
    async run({ expand, find, full, from }, { browsing, looks, context }) {
      await settle(browsing, looks, context.signal);
      const look = await lookAt(browsing, looks, { signal: context.signal, timeoutMs: lookMs, find });
      if (look === undefined && (expand !== undefined || find !== undefined)) throw heldUp(browsing);
      const header = [...headerOf(browsing, look), ...notesOf(tellNotices(browsing, looks))].join("\n");
      if (look === undefined) return header;
      if (find !== undefined) return `${header}\n${found(look, find)}`;
      if (expand !== undefined) return `${header}\n${part(look, expand, from)}`;
      if (full) return `${header}\n${asData(look.url, wholeText(look.items, from, resultTokens))}`;
      return whole(header, look, { looks, most: context.resultCharacters });
    },
  });
}

/** The page, which the next observation need not repeat. An earlier one stays only as its brief. */
function whole(header: string, look: PageLook, { looks, most }: { looks: SnapshotState; most: number }): ToolResult {
  const shown = linesOfLook(look, resultTokens);
  const text = `${header}\n${bodyOf(look, shown)}`;
  if (text.length > most) return { text, isError: false };
  const told = { header: header.split("\n"), notices: [], picture: undefined };
  looks.snapshot = toldWith(look, shown, told);
  const shows = { of: "browser page", whole: Bun.hash(text).toString(36), brief: briefOf(look) };
  return { text, isError: false, shows };
}

function part({ items, url }: PageLook, wanted: string, from: number): string {
  const item = itemWith(items, wanted);
  if (item === undefined) {
    const message = `${wanted} is no longer on the page, or nothing is in it. Look again and use the new refs.`;
    throw new AppError("conflict", message);
  }
  return asData(url, wholeText([item], from, resultTokens));
}

function found({ items, url }: PageLook, text: string): string {
  const lines = findLines(linesOf(items, { allRefs: true, urls: true, collapsed: false }), text, resultTokens);
  return lines === "" ? `${JSON.stringify(text)} is not on the page.` : asData(url, lines);
}
