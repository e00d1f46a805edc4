import PostalMime, { type Address, type Email } from "postal-mime";
import { counted } from "../../../core/text/counted.ts";
import { decodeText } from "../../page/decode.ts";
import { htmlMarkdown } from "./html-markdown.ts";
import { numberRange } from "./number-range.ts";
import type { DocumentPiece, Reading } from "./reading.ts";

const maxMessages = 50_000;
/** A text that is attached and not larger is shown. */
const maxAttachedBytes = 10_000;

/** An e-mail (.eml) or a folder of them (.mbox): headers, text, and what is attached. */
export function readMail(bytes: Uint8Array, part: string | undefined): Reading {
  const starts = messageStarts(bytes);
  const count = Math.min(starts.length, maxMessages);
  const { first, last } = numberRange(part, count, "message");
  async function* pieces(): AsyncGenerator<DocumentPiece> {
    for (let number = first; number <= last; number++) {
      const content = bytes.subarray(starts[number - 1], starts[number]);
      const whole = withoutFromLine(content);
      const attached = whole === content ? "Attached (unpack makes files of them):" : "Attached:";
      const text = mailText(await PostalMime.parse(whole, { maxNestingDepth: 64 }), attached);
      const head = starts.length === 1 ? "" : `[message ${number}]\n`;
      yield { label: `message ${number}`, at: `${number}-${last}`, text: `${head}${text}\n` };
    }
  }
  const held = `${starts.length > count ? "the first " : ""}${counted(count, "message")}`;
  return { about: starts.length === 1 ? "E-mail" : `Mailbox, ${held}`, pieces: pieces() };
}

/**
 * Where the messages of a mailbox begin, up to one more than are read; a single message begins at 0.
 */
function messageStarts(bytes: Uint8Array): number[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, 5).toString("latin1") !== "From ") return [0];
  const starts = [0];
  for (let at = 0; starts.length <= maxMessages; ) {
    at = buffer.indexOf("\nFrom ", at);
    if (at < 0) break;
    starts.push(++at);
  }
  return starts;
}

/** Of a message of a mailbox, what follows the line that parts it from others; a mail as it is. */
function withoutFromLine(content: Uint8Array): Uint8Array {
  const buffer = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return buffer.subarray(0, 5).toString("latin1") === "From " ? buffer.subarray(buffer.indexOf("\n") + 1) : content;
}

function mailText(email: Email, attachedHead: string): string {
  const { from, to = [], cc = [], headers: all, subject, text, html, attachments } = email;
  const headers: readonly (readonly [string, string])[] = [
    ["From", from === undefined ? "" : addressText(from)],
    ["To", to.map(addressText).join(", ")],
    ["Cc", cc.map(addressText).join(", ")],
    // As it was written: in another time zone it may be another day.
    ["Date", all.find(({ key }) => key === "date")?.value ?? ""],
    ["Subject", subject ?? ""],
  ];
  const head = headers.flatMap(([name, value]) => (value === "" ? [] : [`${name}: ${value}`]));
  const body = text?.trim() || (html === undefined ? "" : htmlMarkdown(html));
  const files = attachments.map(({ filename, mimeType, content }) => {
    const size = typeof content === "string" ? content.length : content.byteLength;
    const name = `- ${filename ?? "(no name)"} (${mimeType}, ${size} bytes)`;
    const isShown = /^text\/(?:plain|csv|tab-separated-values)$/.test(mimeType) && size <= maxAttachedBytes;
    return isShown
      ? `${name}:\n${typeof content === "string" ? content : decodeText(new Uint8Array(content), mimeType)}`
      : name;
  });
  const attached = files.length === 0 ? "" : `${attachedHead}\n${files.join("\n")}`;
  return [head.join("\n"), body, attached].filter((piece) => piece !== "").join("\n\n");
}

function addressText(address: Address): string {
  const { name } = address;
  if (address.group !== undefined) return `${name}: ${address.group.map(addressText).join(", ")}`;
  return name === "" ? address.address : `${name} <${address.address}>`;
}
