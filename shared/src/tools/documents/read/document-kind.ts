import { extname } from "node:path";
import { zipContent } from "./zip-content.ts";

/** The kinds of documents that are told apart. */
export type DocumentKind =
  | "pdf"
  | "docx"
  | "pptx"
  | "xlsx"
  | "xlsb"
  | "xls"
  | "ods"
  | "odt"
  | "epub"
  | "zip"
  | "mail"
  | "image"
  | "html"
  | "text"
  | "unknown";

/** The first bytes of images, in hexadecimal; a dot stands for any digit. */
const images =
  /^(?:89504e470d0a|ffd8ff|47494638(?:37|39)61|52494646.{8}57454250|424d.{8}00000000|49492a00|4d4d002a|.{8}66747970(?:68656963|68656978|6d696631|61766966))/;
const zipStart = /^504b(?:0304|0506)/;
const oleStart = "d0cf11e0";

/** What is in a zip archive that is a document, and the document's kind. */
const packages: readonly (readonly [path: string, kind: DocumentKind])[] = [
  ["word/document.xml", "docx"],
  ["ppt/presentation.xml", "pptx"],
  ["xl/workbook.xml", "xlsx"],
  ["xl/workbook.bin", "xlsb"],
  ["META-INF/container.xml", "epub"],
];

/** The kinds of OpenDocument's packages by what these say they are. */
const openDocuments: Readonly<Record<string, DocumentKind>> = {
  "application/vnd.oasis.opendocument.spreadsheet": "ods",
  "application/vnd.oasis.opendocument.text": "odt",
};

/** The kind of a document by its content; by its name only where the content leaves it open. */
export async function documentKind(bytes: Uint8Array, name: string): Promise<DocumentKind> {
  const start = Buffer.from(bytes.subarray(0, 1024)).toString("latin1");
  if (start.includes("%PDF-")) return "pdf";
  const first = Buffer.from(bytes.subarray(0, 16)).toString("hex");
  if (zipStart.test(first)) return packageKind(bytes);
  if (first.startsWith(oleStart)) return extname(name).toLowerCase() === ".xls" ? "xls" : "unknown";
  if (images.test(first)) return "image";
  if (bytes.subarray(0, 8192).includes(0) && !/^(?:\xff\xfe|\xfe\xff)/.test(start)) return "unknown";
  return textKind(start.trimStart(), extname(name).toLowerCase());
}

async function packageKind(bytes: Uint8Array): Promise<DocumentKind> {
  const zip = await zipContent(bytes);
  const paths = new Set(zip.entries.map(({ path }) => path));
  const known = packages.find(([path]) => paths.has(path));
  if (known !== undefined) return known[1];
  if (!paths.has("mimetype")) return "zip";
  return openDocuments[(await zip.text("mimetype"))?.trim() ?? ""] ?? "zip";
}

function textKind(start: string, extension: string): DocumentKind {
  if (/^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<(?:!doctype html|html|head|body)\b/i.test(start)) return "html";
  if (extension === ".html" || extension === ".htm") return "html";
  if (extension === ".eml" || extension === ".mbox") return "mail";
  if (/^From \S+ .*\d{4}\r?\n[\w-]+:/.test(start)) return "mail";
  return /^(?:[A-Z][\w-]+: .*\r?\n(?:[ \t].*\r?\n)*)*(?:From|Received|Message-ID): /i.test(start) &&
    /^(?:mime-version|subject|date): /im.test(start)
    ? "mail"
    : "text";
}
