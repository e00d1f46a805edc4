import type { Page } from "playwright";
import * as z from "zod";
import { AppError } from "../../../core/errors.ts";
import type { Tool } from "../../../core/tools/tool.ts";
import type { Workspace } from "../../../core/workspace.ts";
import { mediaTypeOf } from "../../../machine/workspace/media-type.ts";
import { openFile } from "../../../machine/workspace/workspace-file.ts";
import { readLink } from "../../observation/in-page/outline/read-field.ts";
import { judgeDownload, judgeUpload } from "../../risk/acts.ts";
import { type BrowserDeps, browserTool } from "./browser-tool.ts";
import { pageAddress, ref } from "./input.ts";
import { isDownload } from "./navigate.ts";
import { actMs, perform } from "./perform.ts";

const transferMs = 60_000;
const beginMs = 10_000;
const maxBytes = 50 * 1024 ** 2;

/** Files to and from pages: `browser_upload`, `browser_download`. */
export function fileTools(deps: BrowserDeps): Tool[] {
  return [
    browserTool(deps, {
      name: "browser_upload",
      description: "Uploads workspace files to a file field, or by the button that asks for files.",
      input: z.strictObject({
        ref: ref,
        paths: z.array(z.string().min(1)).min(1).max(20),
      }),
      judge: judgeUpload,
      async run({ ref, paths }, call) {
        const files = await readFiles(call.context.workspace, paths);
        return await perform(call, { refs: [ref], timeoutMs: transferMs }, async (page, [element], say) => {
          if (element === undefined) return;
          say(`Gave ${paths.join(", ")} to ${element.label}.`);
          if (element.self.tag === "input" && element.self.type === "file")
            return await element.handle.setInputFiles(files);
          const asked = page.waitForEvent("filechooser", { timeout: actMs }).catch(() => undefined);
          await element.handle.click({ timeout: actMs });
          const chooser = await asked;
          if (chooser === undefined)
            throw new AppError(
              "invalid_input",
              `${element.label} does not ask for files. Give the ref of the file field.`,
            );
          await chooser.setFiles(files);
        });
      },
    }),
    browserTool(deps, {
      name: "browser_download",
      description: "Downloads a link's target, a button's file or an address into the workspace.",
      input: z.strictObject({ ref: ref.optional(), url: pageAddress.optional() }),
      reach: { opens: ({ url }) => (url === undefined ? [] : [url]) },
      judge: judgeDownload,
      async run({ ref, url }, call) {
        if ((ref === undefined) === (url === undefined)) throw new AppError("invalid_input", "Give either ref or url.");
        return await perform(
          call,
          { refs: ref === undefined ? [] : [ref], timeoutMs: transferMs, watched: false },
          async (page, [element], say) => {
            const link = element === undefined ? url : await element.handle.evaluate(readLink);
            say(`Downloaded ${element?.label ?? url}.`);
            const began = page.waitForEvent("download", { timeout: beginMs }).catch(() => undefined);
            if (link !== undefined && /^https?:/.test(link)) await asDownload(page, link);
            else await element?.handle.click({ timeout: actMs });
            if ((await began) === undefined) throw new AppError("not_found", `${element?.label ?? url} gave no file.`);
          },
        );
      },
    }),
  ];
}

type GivenFile = { readonly name: string; readonly mimeType: string; readonly buffer: Buffer };

async function readFiles(workspace: Workspace, paths: readonly string[]): Promise<GivenFile[]> {
  const files: GivenFile[] = [];
  let left = maxBytes;
  for (const path of paths) {
    await using file = await openFile(workspace, path);
    const buffer = await file.read(left);
    if (buffer === undefined)
      throw new AppError("too_large", `The files are larger than ${maxBytes / 1024 ** 2} MB together.`);
    left -= buffer.length;
    const { name } = file.place;
    files.push({ name, mimeType: mediaTypeOf(name), buffer });
  }
  return files;
}

/**
 * Opens an address and makes the browser treat the response as a file, whatever its headers say. An
 * error response is not a file: the page stays, and the error says what the server answered.
 */
async function asDownload(page: Page, url: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  let answered: number | undefined;
  try {
    session.on("Fetch.requestPaused", ({ requestId, responseStatusCode: status, responseHeaders = [] }) => {
      answered = status;
      if (status !== undefined && status >= 400)
        return void session.send("Fetch.failRequest", { requestId, errorReason: "Aborted" }).catch(() => undefined);
      const redirects = status !== undefined && status >= 300;
      const how =
        redirects || status === undefined ? {} : { responseCode: status, responseHeaders: attached(responseHeaders) };
      void session.send("Fetch.continueResponse", { requestId, ...how }).catch(() => undefined);
    });
    await session.send("Fetch.enable", { patterns: [{ resourceType: "Document", requestStage: "Response" }] });
    await page.goto(url, { timeout: transferMs, waitUntil: "commit" });
    throw noFile(answered);
  } catch (error) {
    if (answered !== undefined && answered >= 400) throw noFile(answered);
    if (!isDownload(error)) throw error;
  } finally {
    await session.detach().catch(() => undefined);
  }
}

function noFile(status: number | undefined): AppError {
  const said = status === undefined ? "" : `: the server answered ${status}`;
  return new AppError("unavailable", `The address gave no file${said}.`);
}

type Header = { readonly name: string; readonly value: string };

/** The headers of a file to be saved, under the name that they give it. */
function attached(headers: readonly Header[]): Header[] {
  const isDisposition = ({ name }: Header) => name.toLowerCase() === "content-disposition";
  const told = headers.find(isDisposition)?.value ?? "";
  // The part after the type names the file.
  const value = `attachment${/;.*/s.exec(told)?.[0] ?? ""}`;
  return [...headers.filter((header) => !isDisposition(header)), { name: "Content-Disposition", value }];
}
