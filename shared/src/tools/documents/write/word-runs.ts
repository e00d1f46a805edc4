import { ExternalHyperlink, ImageRun, type ParagraphChild, TextRun } from "docx";
import { imageSize } from "image-size";
import { AppError } from "../../../core/errors.ts";
import { sizeFrom } from "./page-layout.ts";

/** A node of parsed HTML. */
export type HtmlNode = {
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<HtmlNode>;
  getAttribute?(name: string): string | null;
};

/** How a run of text looks. */
type Look = {
  readonly bold?: boolean;
  readonly italics?: boolean;
  readonly strike?: boolean;
  readonly font?: string;
  readonly style?: string;
};

/** The width of a page's text, in pixels. */
const maxWidth = 600;
const maxHeight = 800;

const looks: Readonly<Record<string, Look>> = {
  STRONG: { bold: true },
  B: { bold: true },
  EM: { italics: true },
  I: { italics: true },
  DEL: { strike: true },
  CODE: { font: "Consolas" },
};

/** The text, links, pictures and boxes of tasks of a node as runs of a paragraph. */
export function inlineRuns(node: HtmlNode, look: Look = {}): ParagraphChild[] {
  if (node.nodeName === "#text") return textRun(node.textContent ?? "", look);
  if (node.nodeName === "BR") return [new TextRun({ break: 1 })];
  if (node.nodeName === "INPUT") return [new TextRun(node.getAttribute?.("checked") === null ? "☐ " : "☑ ")];
  if (node.nodeName === "IMG") return [imageRun(node)];
  const inner = { ...look, ...looks[node.nodeName] };
  const childNodes = [...node.childNodes];
  const target = node.nodeName === "A" ? (node.getAttribute?.("href") ?? "") : "";
  const isLink = /^https?:/i.test(target);
  const own = isLink ? { ...inner, style: "Hyperlink" } : inner;
  const children =
    childNodes.length === 0 && node.nodeName === "CODE"
      ? codeRun(node.textContent ?? "", own)
      : childNodes.flatMap((child) => inlineRuns(child, own));
  return isLink ? [new ExternalHyperlink({ children, link: target })] : children;
}

function textRun(text: string, look: Look): ParagraphChild[] {
  const plain = text.replaceAll(/\s+/g, " ");
  return plain === "" || (plain === " " && text.includes("\n")) ? [] : [new TextRun({ ...look, text: plain })];
}

/** Code keeps its blanks. */
function codeRun(text: string, look: Look): ParagraphChild[] {
  return [new TextRun({ ...look, text })];
}

const kinds = { png: "png", jpg: "jpg", jpeg: "jpg", gif: "gif", bmp: "bmp" } as const;

function imageRun(node: HtmlNode): ImageRun {
  const data = Buffer.from((node.getAttribute?.("src") ?? "").replace(/^data:[^,]*,/, ""), "base64");
  const { width, height, type: format = "" } = measured(data);
  const type = kinds[format as keyof typeof kinds];
  if (type === undefined)
    throw new AppError("unsupported", "A picture in a Word document is a PNG, JPEG or GIF; draw a chart as png.");
  const wanted = sizeFrom(node.getAttribute?.("style") ?? "", { width, height }, maxWidth);
  const scale = Math.min(1, maxWidth / wanted.width, maxHeight / wanted.height);
  const name = node.getAttribute?.("alt") ?? "";
  return new ImageRun({
    type,
    data,
    transformation: { width: Math.round(wanted.width * scale), height: Math.round(wanted.height * scale) },
    altText: { name: name || "picture", description: name, title: name },
  });
}

function measured(data: Uint8Array): { readonly width: number; readonly height: number; readonly type?: string } {
  try {
    return imageSize(data);
  } catch {
    throw new AppError("unsupported", "A picture in the document is damaged.");
  }
}
