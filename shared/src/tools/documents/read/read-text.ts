import { decodeText } from "../../page/decode.ts";
import { extract } from "../../page/extract.ts";
import { oneMarkdown, oneText } from "./fit-pieces.ts";
import type { Reading } from "./reading.ts";

/** The main part of a web page that was saved as a file. */
export async function readHtml(bytes: Uint8Array): Promise<Reading> {
  const { title, text } = await extract({ html: decodeText(bytes, "text/html"), url: "about:blank" });
  return oneMarkdown("HTML", title === "" || text.startsWith(`# ${title}`) ? text : `# ${title}\n\n${text}`);
}

/** A text, decoded. */
export function readText(bytes: Uint8Array): Reading {
  return oneText("Text", decodeText(bytes, "text/plain"));
}
