import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Tool, ToolResult } from "../../../core/tools/tool.ts";
import { saveFile } from "../../../machine/workspace/save-file.ts";
import { findElement } from "../../observation/elements/find-element.ts";
import { heldUp } from "../../observation/look.ts";
import { secretShown } from "../secrets/hide-secrets.ts";
import { type BrowserCall, type BrowserDeps, browserTool } from "./browser-tool.ts";
import { placeOf } from "./follow-up.ts";
import { ref } from "./input.ts";

const captureMs = 20_000;
const longestPage = 16_000;

/** Saves the page as a file: `browser_screenshot`, `browser_pdf`. */
export function captureTools(deps: BrowserDeps): Tool[] {
  const path = (ending: string) =>
    z.string().min(1).max(500).endsWith(ending, `The file's name has to end in ${ending}`).optional();
  return [
    browserTool(deps, {
      name: "browser_screenshot",
      opens: "pointer",
      description:
        "Shows and saves a screenshot of the window, the page or one element; browser_click_at, browser_hover and browser_drag act at its points.",
      input: z.strictObject({
        full_page: z.boolean().default(false),
        ref: ref.optional(),
        path: path(".png"),
      }),
      run: ({ full_page, ref, path }, call) => screenshot(call, { whole: full_page, ref, path }),
    }),
    browserTool(deps, {
      name: "browser_pdf",
      description: "Saves the page as a PDF.",
      input: z.strictObject({ path: path(".pdf") }),
      async run({ path }, call) {
        const bytes = await captured(call, (page) => page.pdf({ printBackground: true, format: "A4" }));
        const saved = await saveFile(call.context.workspace, path ?? `page-${stamp()}.pdf`, new Uint8Array(bytes));
        return `Kept the page as ${saved} (${bytes.length} bytes).`;
      },
    }),
  ];
}

type Shot = { readonly whole: boolean; readonly ref: string | undefined; readonly path: string | undefined };
const maxShownBytes = 1_500_000;

async function screenshot(call: BrowserCall, { whole, ref, path }: Shot): Promise<ToolResult> {
  const { browsing, looks, context } = call;
  const bytes = await captured(call, async (page) => {
    const options = { type: "png", scale: "css", timeout: captureMs } as const;
    if (ref !== undefined) return await (await findElement(browsing, looks, ref)).handle.screenshot(options);
    if (!whole) return await page.screenshot(options);
    const width = page.viewportSize()?.width ?? 1_280;
    const height = Number(await page.evaluate("document.documentElement.scrollHeight"));
    return await page.screenshot({
      ...options,
      fullPage: true,
      clip: { x: 0, y: 0, width, height: Math.min(height, longestPage) },
    });
  });
  const saved = await saveFile(context.workspace, path ?? `screenshots/${stamp()}.png`, new Uint8Array(bytes));
  const what = ref !== undefined ? `the element ${ref}` : whole ? "the whole page" : "the window";
  const size = `${bytes.readUInt32BE(16)} × ${bytes.readUInt32BE(20)} pixels`;
  const text = `Kept a picture of ${what} at ${placeOf(browsing).url}, ${size}, as ${saved} (${bytes.length} bytes).`;
  if (bytes.length > maxShownBytes) return { text: `${text} It is too large to be shown here.`, isError: false };
  return { text, isError: false, images: [{ type: "image", mediaType: "image/png", data: bytes.toString("base64") }] };
}

async function captured(
  call: BrowserCall,
  take: (page: import("playwright").Page) => Promise<Buffer>,
): Promise<Buffer> {
  const { browsing, context, secrets } = call;
  if (browsing.dialog() !== undefined) throw heldUp(browsing);
  const shown = secrets && (await secretShown(browsing, secrets));
  if (shown !== undefined)
    throw new AppError("forbidden", `No picture was taken: the page shows the secret ${shown} as text.`);
  const bytes = await browsing.act(take, { signal: context.signal, timeoutMs: captureMs });
  if (bytes === undefined) throw heldUp(browsing);
  if (bytes.length === 0) throw new AppError("unavailable", "The page could not be drawn.");
  return bytes;
}

function stamp(): string {
  return new Date().toISOString().replace(/[:.]/g, "-").slice(0, 23);
}
