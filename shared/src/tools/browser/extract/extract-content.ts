import * as z from "zod";
import { openWeb } from "../../../core/taken-in.ts";
import { defineTool } from "../../../core/tools/define-tool.ts";
import { failure, type ToolContext } from "../../../core/tools/tool.ts";
import type { Browsers, Browsing } from "../../../machine/browser/browser.ts";
import { asData } from "../../page/as-data.ts";
import type { PageTool } from "../../risk/page-tool.ts";
import { askPieces, mergeAnswers } from "./ask-pieces.ts";
import { piecesOf } from "./pieces.ts";
import { copyPage, readCopies, type WholePage } from "./read-whole-page.ts";

/**
 * What the tool needs: the browser, and how many characters of a page the model reads at a time.
 */
export type ExtractDeps = { readonly browsers: Browsers; readonly pieceCharacters: number };

const copyMs = 15_000;
const maxPieces = 12;
/** A page as short as this is returned in full: reading it costs less than asking about it. */
const short = 2_000;

const input = z.strictObject({
  goal: z.string().trim().min(1).max(2_000),
});

const description =
  "Reads the whole page, in view or not, and extracts what serves a goal: facts, lists, tables, links.";

/** The `browser_extract_content` tool. */
export function extractContent({ browsers, pieceCharacters }: ExtractDeps): PageTool {
  const tool = defineTool({
    name: "browser_extract_content",
    description,
    input,
    effect: "idempotent",
    family: "browser",
    brings: [openWeb],
    parallel: false,
    async run({ goal }, context) {
      const browsing = browsers.peek(context.workspace);
      if (browsing === undefined) return failure("No page is open. Open one with browser_go_to_url first.");
      const page = await readPage(browsing, context.signal);
      if (page === undefined) return failure("A dialog holds the page up. Answer it first.");
      if (page.text === "") return failure(`${page.url} has no text that can be read. Look at it instead.`);
      return page.text.length <= short ? whole(page) : answerGoal(page, goal, pieceCharacters, context);
    },
  });
  return { ...tool, onPage: {} };
}

async function readPage(browsing: Browsing, signal: AbortSignal): Promise<WholePage | undefined> {
  const copied = await browsing.act(copyPage, { signal, timeoutMs: copyMs });
  return copied === undefined ? undefined : readCopies(copied, signal);
}

function whole({ url, title, text }: WholePage): string {
  return `The whole page:\n${asData(url, title === "" ? text : `# ${title}\n\n${text}`)}`;
}

async function answerGoal(page: WholePage, goal: string, characters: number, context: ToolContext) {
  const { url, text } = page;
  const all = piecesOf(text, characters);
  const about = { goal, url };
  const { found, unread } = await askPieces(all.slice(0, maxPieces), about, context);
  const answers = found.filter((answer) => answer !== undefined);
  const missing = whatIsMissing(all, found.length, unread?.why);
  if (found.length === 0) return failure(missing);
  const answer = answers.length === 0 ? undefined : await mergeAnswers(answers, about, context);
  const said = answer === undefined ? "Nothing on the page serves the goal." : asData(url, answer);
  const read = found.length === all.length ? "the whole page" : `the first ${found.length} of ${all.length} parts`;
  return [`From ${read}:`, said, missing].filter((line) => line !== "").join("\n");
}

/** Which pieces were not read and why; empty when all were. */
function whatIsMissing(all: readonly string[], read: number, why: string | undefined): string {
  if (read === all.length) return "";
  const characters = all.slice(read).reduce((sum, piece) => sum + piece.length, 0);
  const reason = why ?? `one call reads at most ${maxPieces} parts`;
  return `Not read: the last ${characters} characters of the page's text (${reason}).`;
}
